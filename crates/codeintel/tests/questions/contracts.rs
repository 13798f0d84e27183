//! Contracts, framework by framework: small trees on disk, indexed as a user's would be, and what is found on both sides.

use crate::contracts_fixture::check;
use expect_test::expect;

#[test]
fn flask_and_fastapi_with_their_prefixes() {
    check(
        r#"
//- api/app.py
from flask import Flask
from users import users_bp
app = Flask(__name__)
app.register_blueprint(users_bp, url_prefix="/api")

@app.route("/health")
def health(): ...

@app.route("/items/<int:item_id>", methods=["GET", "DELETE"])
def item(item_id): ...
//- api/users.py
from flask import Blueprint
users_bp = Blueprint("users", __name__, url_prefix="/users")

@users_bp.get("/<uid>")
def user(uid): ...
//- api/fast.py
from fastapi import APIRouter, FastAPI
router = APIRouter(prefix="/orders")

@router.post("/{order_id}/pay")
async def pay(order_id: int): ...

app = FastAPI()
app.include_router(router, prefix="/v1")
//- web/client.py
import requests
BASE = "http://api:8000"
def show(uid):
    return requests.get(f"{BASE}/api/users/{uid}")
def pay(order):
    requests.post("http://api/v1/orders/%s/pay" % order)
    return requests.post(BASE + "/v1/orders/" + order + "/pay")
def dynamic(url):
    return requests.get(url)
"#,
        expect![[r#"
            http::GET::/api/users/{uid} [api/users.py::user] <- [web/client.py::show]
            http::GET::/health [api/app.py::health] <- []
            http::DELETE::/items/{item_id} [api/app.py::item] <- []
            http::GET::/items/{item_id} [api/app.py::item] <- []
            http::POST::/v1/orders/{order_id}/pay [api/fast.py::pay] <- [web/client.py::pay]
            (1 routes, requests or topics have computed names and are not listed)
        "#]],
    );
}

#[test]
fn django_urls_through_includes() {
    check(
        r#"
//- site/project/urls.py
from django.urls import include, path, re_path
from . import views
urlpatterns = [
    path("api/", include("shop.urls")),
    re_path(r"^legacy/(?P<slug>[a-z]+)/$", views.legacy),
]
//- site/project/views.py
def legacy(request, slug): ...
//- site/shop/urls.py
from django.urls import path
from shop import views
urlpatterns = [path("items/<int:pk>/", views.item)]
//- site/shop/views.py
def item(request, pk): ...
//- site/shop/use.py
import httpx
def load(client):
    return httpx.get("/api/items/5/")
"#,
        expect![[r#"
            http::ANY::/api/items/{pk} [shop/views.py::item] <- [shop/use.py::load]
            http::ANY::/legacy/{slug} [project/views.py::legacy] <- []
        "#]],
    );
}

#[test]
fn express_nest_next_and_fetch() {
    check(
        r#"
//- server/app.js
const express = require('express');
const users = require('./users');
const app = express();
app.use('/api/users', users);
app.get('/health', (req, res) => res.send('ok'));
app.route('/books').get(list).post(create);
function list() {}
function create() {}
cache.get('/no');
//- server/users.js
const router = require('express').Router();
router.get('/:id', show);
function show(req, res) {}
module.exports = router;
//- server/cats.controller.ts
import { Controller, Get, Post, Param } from '@nestjs/common';
@Controller('cats')
export class CatsController {
  @Get(':id')
  findOne(@Param('id') id: string) {}
  @Post()
  create() {}
}
//- server/app/api/posts/[slug]/route.ts
export async function GET(request: Request) { return fetch(process.env.API_URL + '/api/users/1'); }
//- server/pages/api/hello.ts
export default function handler(req, res) {}
//- web/client.ts
import axios from 'axios';
const api = axios.create({ baseURL: 'https://example.org/api' });
export async function load(id: string) {
  await fetch(`/api/users/${id}`);
  await fetch('/cats', { method: 'POST', body: '' });
  await api.get('/users/' + id);
  return axios.get('/books');
}
"#,
        expect![[r#"
            http::ANY::/api/hello [server/pages/api/hello.ts::handler] <- []
            http::GET::/api/posts/{slug} [server/app/api/posts/[slug]/route.ts::GET] <- []
            http::GET::/api/users/{id} [server/users.js::show] <- [server/app/api/posts/[slug]/route.ts::GET web/client.ts::load]
            http::GET::/books [server/app.js::list] <- [web/client.ts::load]
            http::POST::/books [server/app.js::create] <- []
            http::POST::/cats [server/cats.controller.ts::CatsController.create] <- [web/client.ts::load]
            http::GET::/cats/{id} [server/cats.controller.ts::CatsController.findOne] <- []
            http::GET::/health [server/app.js:5] <- []
            env::API_URL [] <- [server/app/api/posts/[slug]/route.ts::GET]
        "#]],
    );
}

#[test]
fn go_routers_and_clients() {
    check(
        r#"
//- svc/std.go
package main
import "net/http"
func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", getUser)
	http.HandleFunc("/health", health)
}
func getUser(w http.ResponseWriter, r *http.Request) {}
func health(w http.ResponseWriter, r *http.Request) {}
//- svc/gin/gin.go
package gin
import "github.com/gin-gonic/gin"
func Routes(r *gin.Engine) {
	api := r.Group("/api")
	v1 := api.Group("/v1")
	v1.GET("/items/:id", item)
	v1.POST("", create)
}
func item(c *gin.Context) {}
func create(c *gin.Context) {}
//- svc/chi/chi.go
package chi
import "github.com/go-chi/chi/v5"
func Routes(r chi.Router) {
	r.Route("/articles", func(r chi.Router) {
		r.Get("/", list)
		r.Route("/{slug}", func(r chi.Router) {
			r.Delete("/", remove)
		})
	})
}
func list() {}
func remove() {}
//- svc/mux/mux.go
package mux
import "github.com/gorilla/mux"
func Routes(r *mux.Router) {
	s := r.PathPrefix("/products").Subrouter()
	s.HandleFunc("/{key:[a-z]+}", product).Methods("GET", "PUT")
}
func product() {}
//- cli/client.go
package main
import ("fmt"; "net/http"; "os")
func load(id string) {
	http.Get(fmt.Sprintf("%s/users/%s", os.Getenv("API"), id))
	http.NewRequest(http.MethodPut, "http://svc/products/abc", nil)
}
"#,
        expect![[r#"
            http::POST::/api/v1 [svc/gin/gin.go::create] <- []
            http::GET::/api/v1/items/{id} [svc/gin/gin.go::item] <- []
            http::GET::/articles [svc/chi/chi.go::list] <- []
            http::DELETE::/articles/{slug} [svc/chi/chi.go::remove] <- []
            http::ANY::/health [svc/std.go::health] <- []
            http::GET::/products/{key} [svc/mux/mux.go::product] <- []
            http::PUT::/products/{key} [svc/mux/mux.go::product] <- [cli/client.go::load]
            http::GET::/users/{id} [svc/std.go::getUser] <- [cli/client.go::load]
            env::API [] <- [cli/client.go::load]
        "#]],
    );
}

#[test]
fn java_and_kotlin() {
    check(
        r#"
//- svc/UserController.java
package app;
import org.springframework.web.bind.annotation.*;
@RestController
@RequestMapping("/api/users")
public class UserController {
    @GetMapping("/{id}")
    public User one(@PathVariable Long id) { return null; }
    @PostMapping
    public User add() { return null; }
    @RequestMapping(value = "/all", method = RequestMethod.DELETE)
    public void clear() {}
}
//- svc/Items.java
package app;
import jakarta.ws.rs.*;
@Path("/items")
public class Items {
    @GET
    @Path("{id}")
    public String one() { return ""; }
    @POST
    public void add() {}
}
//- svc/Routes.kt
package app
import io.ktor.server.routing.*
fun Route.orders() {
    route("/orders") {
        get("/{id}") { call.respond("x") }
        post { call.respond("y") }
    }
}
//- web/Client.java
package web;
import org.springframework.web.client.RestTemplate;
import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.web.bind.annotation.*;
class Client {
    private RestTemplate restTemplate;
    Object load(long id) { return restTemplate.getForObject("http://svc/api/users/{id}", Object.class, id); }
}
@FeignClient(name = "items", path = "/items")
interface ItemsApi {
    @GetMapping("/{id}")
    String one(@PathVariable String id);
}
"#,
        expect![[r#"
            http::POST::/api/users [svc/UserController.java::UserController.add] <- []
            http::DELETE::/api/users/all [svc/UserController.java::UserController.clear] <- []
            http::GET::/api/users/{id} [svc/UserController.java::UserController.one] <- [web/Client.java::Client.load]
            http::POST::/items [svc/Items.java::Items.add] <- []
            http::GET::/items/{id} [svc/Items.java::Items.one] <- [web/Client.java::ItemsApi.one]
            http::POST::/orders [svc/Routes.kt::Route.orders] <- []
            http::GET::/orders/{id} [svc/Routes.kt::Route.orders] <- []
        "#]],
    );
}

#[test]
fn ruby_php_csharp_rust() {
    check(
        r#"
//- rails/config/routes.rb
Rails.application.routes.draw do
  root to: 'home#index'
  namespace :api do
    resources :users, only: [:index, :show] do
      get :posts
    end
    post '/login', to: 'sessions#create'
  end
end
//- rails/lib/client.rb
require 'net/http'
def load(id)
  Net::HTTP.get(URI("http://localhost/api/users/#{id}"))
end
//- laravel/routes/api.php
<?php
use App\Http\Controllers\OrderController;
Route::get('/orders/{order}', [OrderController::class, 'show']);
Route::prefix('admin')->middleware('auth')->group(function () {
    Route::post('/orders', [OrderController::class, 'store']);
});
//- laravel/app/Http/Controllers/OrderController.php
<?php
namespace App\Http\Controllers;
class OrderController {
    public function show($order) { return Http::get("https://svc/todo/$order"); }
    public function store() {}
}
//- symfony/src/Blog.php
<?php
use Symfony\Component\Routing\Attribute\Route;
#[Route('/blog')]
class Blog {
    #[Route('/{slug}', methods: ['GET'])]
    public function show(string $slug) {}
}
//- net/Todo.cs
using Microsoft.AspNetCore.Mvc;
[ApiController]
[Route("api/[controller]")]
public class TodoController : ControllerBase {
    [HttpGet("{id:int}")]
    public IActionResult Get(int id) { return null; }
    [HttpPost]
    public IActionResult Add() { return null; }
}
public class Program {
    public static void Main() {
        var app = WebApplication.Create();
        var api = app.MapGroup("/v2");
        api.MapGet("/todo/{id}", (int id) => id);
    }
    async Task Load(HttpClient client, int id) { await client.GetAsync($"/v2/todo/{id}"); }
}
//- rust/src/main.rs
use actix_web::{get, web, App};
use axum::{routing::get as axum_get, Router};
#[get("/hello/{name}")]
async fn hello() {}
fn configure(app: App) {
    app.service(web::scope("/admin").route("/stats", web::get().to(stats)).service(web::resource("/users").route(web::post().to(add))));
}
async fn stats() {}
async fn add() {}
fn users() -> Router { Router::new().route("/{id}", axum::routing::get(stats).delete(add)) }
fn app() -> Router { Router::new().nest("/people", users()) }
async fn load(id: u32) { reqwest::get(format!("http://rust/people/{id}")).await; }
"#,
        expect![[r#"
            http::GET::/ [rails/config/routes.rb:2] <- []
            http::GET::/admin/stats [rust/src/main.rs::stats] <- []
            http::POST::/admin/users [rust/src/main.rs::configure] <- []
            http::POST::/api/Todo [net/Todo.cs::TodoController.Add] <- []
            http::GET::/api/Todo/{id} [net/Todo.cs::TodoController.Get] <- []
            http::POST::/api/admin/orders [laravel/app/Http/Controllers/OrderController.php::OrderController.store] <- []
            http::POST::/api/login [rails/config/routes.rb:7] <- []
            http::GET::/api/orders/{order} [laravel/app/Http/Controllers/OrderController.php::OrderController.show] <- []
            http::GET::/api/users [rails/config/routes.rb:4] <- []
            http::GET::/api/users/{id} [rails/config/routes.rb:4] <- [rails/lib/client.rb::load]
            http::GET::/api/users/{user_id}/posts [rails/config/routes.rb:5] <- []
            http::GET::/blog/{slug} [symfony/src/Blog.php::Blog.show] <- []
            http::GET::/hello/{name} [rust/src/main.rs::hello] <- []
            http::DELETE::/people/{id} [rust/src/main.rs::add] <- []
            http::GET::/people/{id} [rust/src/main.rs::stats] <- [rust/src/main.rs::load]
            http::GET::/todo/{order} [] <- [laravel/app/Http/Controllers/OrderController.php::OrderController.show]
            http::GET::/v2/todo/{id} [net/Todo.cs::Program.Main] <- [net/Todo.cs::Program.Load]
        "#]],
    );
}

#[test]
fn topics_grpc_graphql_environment_and_openapi() {
    check(
        r#"
//- a/greeter.proto
syntax = "proto3";
package hello;
service Greeter {
  rpc SayHello (HelloRequest) returns (HelloReply);
  rpc Wave (HelloRequest) returns (HelloReply);
}
message HelloRequest { string name = 1; }
message HelloReply { string text = 1; }
//- a/server.py
import hello_pb2_grpc
class Greeter(hello_pb2_grpc.GreeterServicer):
    def SayHello(self, request, context): ...
//- b/client.go
package main
import pb "example.com/hello_pb"
func call(conn any) {
	c := pb.NewGreeterClient(conn)
	c.SayHello(nil, nil)
}
//- a/schema.graphql
type Query {
  user(id: ID!): User
}
type User { id: ID! }
//- b/query.ts
const Q = gql`query One($id: ID!) { user(id: $id) { id } missing }`;
import { Kafka } from 'kafkajs';
const producer = new Kafka({}).producer();
export async function publish() { await producer.send({ topic: 'orders', messages: [] }); }
//- a/listen.py
from kafka import KafkaConsumer
import os
def run():
    consumer = KafkaConsumer("orders")
    return os.environ["ORDERS_URL"]
//- b/.env
ORDERS_URL=secret
UNUSED=1
//- b/openapi.yaml
openapi: 3.0.0
paths:
  /pets/{petId}:
    get:
      summary: x
"#,
        expect![[r#"
            http::GET::/pets/{petId} [b/openapi.yaml:4] <- []
            grpc::hello.Greeter::SayHello [a/server.py::Greeter.SayHello] <- [b/client.go::call]
            grpc::hello.Greeter::Wave [a/greeter.proto::Greeter.Wave] <- []
            graphql::Query::missing [] <- [b/query.ts::Q]
            graphql::Query::user [a/schema.graphql:2] <- [b/query.ts::Q]
            topic::orders [b/query.ts::publish] <- [a/listen.py::run]
            env::ORDERS_URL [b/.env:1] <- [a/listen.py::run]
            env::UNUSED [b/.env:2] <- []
        "#]],
    );
}
