//! Contracts of the frameworks, written the way their own documentation writes them, one test per language.

use crate::contracts_fixture::check;
use expect_test::expect;

#[test]
fn go_frameworks_and_brokers() {
    check(
        r#"
//- svc/echo/echo.go
package echo
import "github.com/labstack/echo/v4"
func Routes() {
	e := echo.New()
	e.GET("/users/:id", getUser)
	g := e.Group("/admin")
	g.DELETE("/users/:id", deleteUser)
}
func getUser(c echo.Context) error { return nil }
func deleteUser(c echo.Context) error { return nil }
//- svc/fiber/fiber.go
package fiber
import "github.com/gofiber/fiber/v2"
func Routes() {
	app := fiber.New()
	app.Get("/flights/:from-:to", flights)
	v1 := app.Group("/v1")
	v1.Post("/register", register)
}
func flights(c *fiber.Ctx) error { return nil }
func register(c *fiber.Ctx) error { return nil }
//- svc/events/events.go
package events
import (
	"github.com/nats-io/nats.go"
	"github.com/segmentio/kafka-go"
	amqp "github.com/rabbitmq/amqp091-go"
)
func Listen(nc *nats.Conn, ch *amqp.Channel) {
	nc.Subscribe("orders.created", func(m *nats.Msg) {})
	kafka.NewReader(kafka.ReaderConfig{Brokers: []string{"localhost:9092"}, Topic: "payments"})
	ch.Consume("mails", "", true, false, false, false, nil)
}
//- cli/client.go
package main
import (
	"context"
	"github.com/go-resty/resty/v2"
	"github.com/nats-io/nats.go"
	"github.com/segmentio/kafka-go"
	amqp "github.com/rabbitmq/amqp091-go"
)
func load() {
	client := resty.New()
	client.R().Get("http://svc/users/7")
}
func tell(nc *nats.Conn, ch *amqp.Channel) {
	nc.Publish("orders.created", []byte("7"))
	w := &kafka.Writer{Addr: kafka.TCP("localhost:9092"), Topic: "payments"}
	w.Close()
	ch.PublishWithContext(context.Background(), "", "mails", false, false, amqp.Publishing{})
}
"#,
        expect![[r#"
            http::DELETE::/admin/users/{id} [svc/echo/echo.go::deleteUser] <- []
            http::GET::/flights/{from}-{to} [svc/fiber/fiber.go::flights] <- []
            http::GET::/users/{id} [svc/echo/echo.go::getUser] <- [cli/client.go::load]
            http::POST::/v1/register [svc/fiber/fiber.go::register] <- []
            topic::mails [cli/client.go::tell] <- [svc/events/events.go::Listen]
            topic::orders.created [cli/client.go::tell] <- [svc/events/events.go::Listen]
            topic::payments [cli/client.go::tell] <- [svc/events/events.go::Listen]
        "#]],
    );
}

#[test]
fn java_frameworks_and_brokers() {
    check(
        r#"
//- svc/Greeting.java
package app;
import io.micronaut.http.annotation.*;
@Controller("/greetings")
public class Greeting {
    @Get("/{name}")
    public String hello(String name) { return name; }
}
//- svc/Web.java
package app;
import io.javalin.Javalin;
public class Web {
    public static void main(String[] args) {
        var app = Javalin.create().start(7070);
        app.get("/hello/{name}", Web::hello);
    }
    static void hello(io.javalin.http.Context ctx) {}
}
//- svc/Listeners.java
package app;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
class Listeners {
    @KafkaListener(id = "mine", topics = "orders")
    public void listen(String in) {}
    @RabbitListener(queues = "mails")
    public void mail(String in) {}
}
//- web/GitHubService.java
package web;
import retrofit2.Call;
import retrofit2.http.*;
public interface GitHubService {
    @GET("greetings/{name}")
    Call<String> greet(@Path("name") String name);
}
//- web/Clients.java
package web;
import okhttp3.*;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
class Clients {
    private WebClient webClient;
    private KafkaTemplate<String, String> kafkaTemplate;
    private RabbitTemplate rabbitTemplate;
    void ok() { Request request = new Request.Builder().url("https://svc/hello/bob").build(); }
    void web() { webClient.get().uri("/hello/{name}", "bob").retrieve(); }
    void tell() {
        kafkaTemplate.send("orders", "7");
        rabbitTemplate.convertAndSend("mails", "hi");
    }
}
//- web/Http.java
package web;
import java.net.URI;
import java.net.http.HttpRequest;
class Http {
    HttpRequest ask() { return HttpRequest.newBuilder().uri(URI.create("http://svc/greetings/ann")).build(); }
}
"#,
        expect![[r#"
            http::GET::/greetings/{name} [svc/Greeting.java::Greeting.hello] <- [web/GitHubService.java::GitHubService.greet web/Http.java::Http.ask]
            http::GET::/hello/{name} [svc/Web.java::Web.hello] <- [web/Clients.java::Clients.ok web/Clients.java::Clients.web]
            topic::mails [web/Clients.java::Clients.tell] <- [svc/Listeners.java::Listeners.mail]
            topic::orders [web/Clients.java::Clients.tell] <- [svc/Listeners.java::Listeners.listen]
        "#]],
    );
}

#[test]
fn csharp_clients_and_brokers() {
    check(
        r#"
//- svc/Users.cs
using Microsoft.AspNetCore.Mvc;
[ApiController]
[Route("api/[controller]")]
public class UsersController : ControllerBase {
    [HttpGet("{id}")]
    public string One(int id) => "";
}
//- svc/Listener.cs
using Confluent.Kafka;
using RabbitMQ.Client;
class Listener {
    void Run(IConsumer<string, string> consumer, IModel channel) {
        consumer.Subscribe("orders");
        channel.BasicConsume(queue: "mails", autoAck: true, consumer: null);
    }
}
//- web/Clients.cs
using System.Net.Http;
using Refit;
using RestSharp;
using Confluent.Kafka;
using RabbitMQ.Client;
public interface IUsersApi {
    [Get("/api/users/{id}")]
    Task<string> One(int id);
}
class Clients {
    async Task Load(HttpClient client) { await client.GetStringAsync("http://svc/api/users/7"); }
    void Rest() { var request = new RestRequest("api/users/{id}", Method.Get); }
    async Task Tell(IProducer<string, string> producer, IModel channel) {
        await producer.ProduceAsync("orders", new Message<string, string>());
        channel.BasicPublish(exchange: "", routingKey: "mails", body: null);
    }
}
"#,
        expect![[r#"
            http::GET::/api/Users/{id} [svc/Users.cs::UsersController.One] <- [web/Clients.cs::Clients.Load web/Clients.cs::Clients.Rest web/Clients.cs::IUsersApi.One]
            topic::mails [web/Clients.cs::Clients.Tell] <- [svc/Listener.cs::Listener.Run]
            topic::orders [web/Clients.cs::Clients.Tell] <- [svc/Listener.cs::Listener.Run]
        "#]],
    );
}

#[test]
fn javascript_frameworks_and_brokers() {
    check(
        r#"
//- svc/fastify.js
const fastify = require('fastify')({ logger: true })
fastify.get('/items/:id', async (request, reply) => { return {} })
fastify.route({ method: 'POST', url: '/items', handler: add })
function add(request, reply) {}
//- svc/koa.js
const Router = require('@koa/router')
const router = new Router({ prefix: '/shop' })
router.get('/carts/:id', show)
async function show(ctx) {}
//- svc/hono.ts
import { Hono } from 'hono'
const app = new Hono()
app.get('/posts/:id', (c) => c.text('x'))
//- svc/events.js
const { Kafka } = require('kafkajs')
const amqp = require('amqplib')
const kafka = new Kafka({ brokers: ['k:9092'] })
async function listen(channel) {
  const consumer = kafka.consumer({ groupId: 'g' })
  await consumer.subscribe({ topic: 'orders', fromBeginning: true })
  channel.consume('mails', (message) => {})
}
//- web/client.ts
import axios from 'axios'
import ky from 'ky'
import { Kafka } from 'kafkajs'
import amqp from 'amqplib'
const kafka = new Kafka({ brokers: ['k:9092'] })
const producer = kafka.producer()
export async function load(id: string) {
  await axios.get(`http://svc/items/${id}`)
  await axios.post('http://svc/items', {})
  await ky.get(`http://svc/shop/carts/${id}`).json()
}
export async function tell(channel: amqp.Channel) {
  await producer.send({ topic: 'orders', messages: [{ value: '7' }] })
  channel.sendToQueue('mails', Buffer.from('hi'))
}
"#,
        expect![[r#"
            http::POST::/items [svc/fastify.js::add] <- [web/client.ts::load]
            http::GET::/items/{id} [svc/fastify.js:2] <- [web/client.ts::load]
            http::GET::/posts/{id} [svc/hono.ts:3] <- []
            http::GET::/shop/carts/{id} [svc/koa.js::show] <- [web/client.ts::load]
            topic::mails [web/client.ts::tell] <- [svc/events.js::listen]
            topic::orders [web/client.ts::tell] <- [svc/events.js::listen]
        "#]],
    );
}

#[test]
fn python_frameworks_and_brokers() {
    check(
        r#"
//- svc/aio.py
from aiohttp import web

async def handle(request):
    return web.Response()

app = web.Application()
app.add_routes([web.get('/hello/{name}', handle)])
//- svc/star.py
from starlette.applications import Starlette
from starlette.routing import Mount, Route

async def homepage(request): ...
async def user(request): ...

app = Starlette(routes=[Route('/', homepage), Mount('/users', routes=[Route('/{username}', user)])])
//- svc/drf.py
from rest_framework import routers, viewsets

class UserViewSet(viewsets.ModelViewSet):
    pass

router = routers.DefaultRouter()
router.register(r'accounts', UserViewSet)
//- svc/views.py
from django.urls import path
from django.views import View

class About(View):
    def get(self, request): ...

urlpatterns = [path('about/', About.as_view())]
//- svc/listen.py
from kafka import KafkaConsumer
import pika

def listen(channel):
    consumer = KafkaConsumer('orders', group_id='g')
    channel.basic_consume(queue='mails', on_message_callback=print)
//- web/client.py
import aiohttp
import httpx
import pika
from kafka import KafkaProducer

async def load(name):
    async with aiohttp.ClientSession() as session:
        await session.get(f'http://svc/hello/{name}')

def look(name):
    return httpx.get(f'http://svc/users/{name}')

def tell(channel):
    producer = KafkaProducer()
    producer.send('orders', b'7')
    channel.basic_publish(exchange='', routing_key='mails', body='hi')
"#,
        expect![[r#"
            http::GET::/ [svc/star.py::homepage] <- []
            http::ANY::/about [svc/views.py::About] <- []
            http::ANY::/accounts [svc/drf.py::UserViewSet] <- []
            http::ANY::/accounts/{pk} [svc/drf.py::UserViewSet] <- []
            http::GET::/hello/{name} [svc/aio.py::handle] <- [web/client.py::load]
            http::GET::/users/{username} [svc/star.py::user] <- [web/client.py::look]
            topic::mails [web/client.py::tell] <- [svc/listen.py::listen]
            topic::orders [web/client.py::tell] <- [svc/listen.py::listen]
        "#]],
    );
}

#[test]
fn ruby_php_and_rust_frameworks() {
    check(
        r#"
//- sinatra/app.rb
require 'sinatra'
get '/hello/:name' do
  "Hello #{params['name']}!"
end
//- sinatra/client.rb
require 'faraday'
require 'httparty'
def load(name)
  Faraday.get("http://sinatra/hello/#{name}")
end
def again
  HTTParty.get('http://sinatra/hello/bob')
end
//- slim/public/index.php
<?php
use Slim\Factory\AppFactory;
$app = AppFactory::create();
$app->get('/books/{id}', BookController::class . ':show');
//- slim/src/Client.php
<?php
use GuzzleHttp\Client;
use Illuminate\Support\Facades\Http;
class Loader {
    public function load() {
        $client = new Client();
        return $client->request('GET', 'http://slim/books/7');
    }
    public function look() { return Http::get('http://slim/books/8'); }
}
//- rocket/src/main.rs
#[macro_use] extern crate rocket;
#[get("/world/<name>")]
fn world(name: &str) -> String { String::new() }
#[launch]
fn rocket() -> _ { rocket::build().mount("/hello", routes![world]).mount("/posts", routes![posts::index]) }
//- rocket/src/posts.rs
use rocket::get;
#[get("/")]
pub fn index() -> String { String::new() }
//- rocket/src/client.rs
async fn load(client: reqwest::Client) {
    client.get("http://rocket/hello/world/bob").send().await;
}
"#,
        expect![[r#"
            http::GET::/books/{id} [slim/public/index.php:4] <- [slim/src/Client.php::Loader.load slim/src/Client.php::Loader.look]
            http::GET::/hello/world/{name} [rocket/src/main.rs::world] <- [rocket/src/client.rs::load]
            http::GET::/hello/{name} [sinatra/app.rb:2] <- [sinatra/client.rb::again sinatra/client.rb::load]
            http::GET::/posts [rocket/src/posts.rs::index] <- []
        "#]],
    );
}

#[test]
fn a_grpc_call_is_one_on_a_client() {
    check(
        r#"
//- api/peering.proto
syntax = "proto3";
package shop;
service Carts {
  rpc Read(Id) returns (Cart);
  rpc Write(Cart) returns (Cart);
}
message Id { string id = 1; }
message Cart { string id = 1; }
//- app/server.go
package app
import "example.com/shop/pb"
type Server struct { store Store }
func (s *Server) forward(conn *grpc.ClientConn) {
	pb.NewCartsClient(conn).Read(ctx, req)
}
func (s *Server) Delete() {
	s.store.Read(nil)
	s.state().Write(nil)
}
func (s *Server) kept(conn *grpc.ClientConn) {
	c := pb.NewCartsClient(conn)
	c.Write(ctx, req)
}
"#,
        expect![[r#"
            grpc::shop.Carts::Read [api/peering.proto::Carts.Read] <- [app/server.go::Server.forward]
            grpc::shop.Carts::Write [api/peering.proto::Carts.Write] <- [app/server.go::Server.kept]
        "#]],
    );
}

/// No framework is known here: what is passed together tells, and the answer says which functions were taken for it.
#[test]
fn registrations_through_functions_of_the_project() {
    check(
        r#"
//- svc/register.go
package agent
func init() {
	registerEndpoint("/v1/acl/login", []string{"POST"}, (*Handlers).ACLLogin)
	registerEndpoint("/v1/acl/policy", []string{"PUT"}, (*Handlers).ACLPolicyCreate)
	registerEndpoint("/v1/acl/policy/", []string{"GET", "DELETE"}, (*Handlers).ACLPolicyCRUD)
	rename("/old/path", "/new/path", "GET", (*Handlers).ACLLogin)
}
func registerEndpoint(pattern string, methods []string, fn endpoint) {}
func rename(from, to, verb string, fn endpoint) {}
//- svc/handlers.go
package agent
type endpoint func(*Handlers)
type Handlers struct{}
func (h *Handlers) ACLLogin() {}
func (h *Handlers) ACLPolicyCreate() {}
func (h *Handlers) ACLPolicyCRUD() {}
//- svc/once.go
package agent
func once() { note("/v1/note", "GET", (*Handlers).ACLLogin) }
func note(path, verb string, fn endpoint) {}
//- api/acl.go
package api
type Client struct{}
func (c *Client) newRequest(method, path string) {}
func (c *Client) Login() { c.newRequest("POST", "/v1/acl/login") }
func (c *Client) Create() { c.newRequest("PUT", "/v1/acl/policy") }
func (c *Client) Read(id string) { c.newRequest("GET", "/v1/acl/policy/"+id) }
"#,
        expect![[r#"
            http::POST::/v1/acl/login [svc/handlers.go::Handlers.ACLLogin] <- [api/acl.go::Client.Login]
            http::PUT::/v1/acl/policy [svc/handlers.go::Handlers.ACLPolicyCreate] <- [api/acl.go::Client.Create]
            http::DELETE::/v1/acl/policy/{rest} [svc/handlers.go::Handlers.ACLPolicyCRUD] <- []
            http::GET::/v1/acl/policy/{rest} [svc/handlers.go::Handlers.ACLPolicyCRUD] <- [api/acl.go::Client.Read]
            (6 calls of the project's own newRequest, registerEndpoint are taken for routes and requests, by what they are given)
        "#]],
    );
}
