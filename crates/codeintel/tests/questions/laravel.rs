//! A Laravel application written as its documentation does, indexed from disk: models, relations, routes and controllers.

use std::collections::BTreeMap;

use codeintel::Workspace;
use codeintel::descriptors::{ClassDescriptor, FunctionDescriptor, RelationDescriptor};
use codeintel::function_details::{FunctionDetails, function_details};
use codeintel::laravel::routes::Route;
use codeintel::laravel::{LaravelRoutes, laravel_routes};
use codeintel::type_definition::{TypeDefinition, type_definition};

fn application() -> (tempfile::TempDir, Workspace) {
    crate::common::indexed_copy("laravel")
}

fn class(workspace: &Workspace, name: &str) -> ClassDescriptor {
    let ask = TypeDefinition {
        type_name: name.to_string(),
        ..TypeDefinition::default()
    };
    type_definition(workspace, &ask).unwrap().class
}

fn method(workspace: &Workspace, class: &str, name: &str) -> FunctionDescriptor {
    let ask = FunctionDetails {
        function_name: name.to_string(),
        class_name: Some(class.to_string()),
        ..FunctionDetails::default()
    };
    function_details(workspace, &ask).unwrap().function
}

fn relation<'a>(class: &'a ClassDescriptor, name: &str) -> &'a RelationDescriptor {
    let found = class.relations.iter().find(|relation| relation.name == name);
    found.unwrap_or_else(|| panic!("no relation `{name}` among {:?}", class.relations))
}

fn routes(workspace: &Workspace) -> Vec<Route> {
    laravel_routes(workspace, &LaravelRoutes::default()).unwrap().routes
}

fn lines(routes: &[Route], path: &str) -> Vec<String> {
    let of_file = routes.iter().filter(|route| route.path == path);
    of_file
        .map(|route| {
            format!(
                "{} {} {} {} [{}]",
                route.method,
                route.uri,
                route.action,
                route.name,
                route.middleware.join(",")
            )
        })
        .collect()
}

#[test]
fn a_model_says_what_its_table_takes_and_shows() {
    let (_folder, workspace) = application();
    let user = class(&workspace, "App\\Models\\User");
    assert_eq!(
        (user.kind.as_str(), user.full_name.as_str()),
        ("model", "App\\Models\\User")
    );
    assert_eq!(user.description, "A person who can sign in.");
    assert_eq!(user.fillable, ["name", "email", "password"]);
    assert_eq!(user.hidden, ["password", "remember_token"]);
    assert_eq!(user.visible, ["name", "email"]);
    assert_eq!(user.appends, ["full_name"]);
    assert_eq!(user.scopes, ["popular", "ofType", "withAvatar"]);
    assert_eq!(user.attributes, ["first_name", "secret", "full_name", "email"]);
    assert!(user.tags.contains(&"laravel:model".to_string()));
    assert_eq!(user.metadata["soft_deletes"], true);
    assert_eq!(user.metadata["per_page"], 25);
    assert_eq!(user.metadata["observers"][0], "App\\Observers\\UserObserver");
    let uses: Vec<&str> = user
        .relations
        .iter()
        .filter(|relation| relation.relation_kind == "uses")
        .map(|relation| relation.related_symbol.as_str())
        .collect();
    assert_eq!(
        uses,
        [
            "App\\Models\\Concerns\\HasAvatar",
            "Illuminate\\Database\\Eloquent\\Factories\\HasFactory",
            "Illuminate\\Notifications\\Notifiable",
            "Illuminate\\Database\\Eloquent\\SoftDeletes"
        ]
    );
    let full_name = user.fields.iter().find(|field| field.name == "full_name").unwrap();
    assert_eq!(
        (full_name.type_.as_str(), full_name.description.as_str()),
        ("string", "the first and last name")
    );
    let fillable = user.fields.iter().find(|field| field.name == "fillable").unwrap();
    assert_eq!(
        (fillable.type_.as_str(), fillable.visibility.as_str()),
        ("array<int, string>", "protected")
    );
    assert_eq!(class(&workspace, "Role").guarded, ["id"]);
}

// The twelve cases, one test each.

#[test]
fn morph_one() {
    let (_folder, workspace) = application();
    let user = class(&workspace, "User");
    let image = relation(&user, "image");
    assert_eq!(
        (
            image.relation_kind.as_str(),
            image.type_.as_str(),
            image.morph_name.as_str(),
            image.foreign_key.as_str()
        ),
        ("morphOne", "MorphOne<App\\Models\\Image>", "imageable", "imageable_id")
    );
    assert_eq!(relation(&user, "avatar").type_, "MorphOne<App\\Models\\Image>");
}

#[test]
fn has_one_through() {
    let (_folder, workspace) = application();
    let user = class(&workspace, "User");
    let carrier = relation(&user, "carrier");
    assert_eq!(carrier.type_, "HasOneThrough<App\\Models\\Carrier>");
    assert_eq!(
        (
            carrier.through.as_str(),
            carrier.foreign_key.as_str(),
            carrier.second_key.as_str()
        ),
        ("App\\Models\\Phone", "user_id", "phone_id")
    );
    let fluent = relation(&user, "phoneCarrier");
    assert_eq!(
        (fluent.type_.as_str(), fluent.through.as_str()),
        ("HasOneThrough<App\\Models\\Carrier>", "App\\Models\\Phone")
    );
    let authors = class(&workspace, "Category");
    let authors = relation(&authors, "authors");
    assert_eq!(
        (
            authors.type_.as_str(),
            authors.foreign_key.as_str(),
            authors.second_key.as_str(),
            authors.inferred.len()
        ),
        ("HasManyThrough<App\\Models\\User>", "category_id", "id", 0)
    );
}

#[test]
fn casts_as_a_method() {
    let (_folder, workspace) = application();
    let casts = class(&workspace, "User").casts;
    let expected = [
        ("email_verified_at", "datetime"),
        ("password", "hashed"),
        ("status", "App\\Enums\\Status"),
        (
            "statuses",
            "Illuminate\\Database\\Eloquent\\Casts\\AsEnumCollection:App\\Enums\\Status",
        ),
    ];
    let expected: BTreeMap<String, String> = expected
        .iter()
        .map(|(name, cast)| (name.to_string(), cast.to_string()))
        .collect();
    assert_eq!(casts, expected);
    // A property, with what the parent casts.
    let casts = class(&workspace, "Post").casts;
    assert_eq!(casts["options"], "array");
    assert_eq!(casts["price"], "decimal:2");
    assert_eq!(casts["status"], "App\\Enums\\Status");
    assert_eq!(casts["created_at"], "immutable_datetime");
}

#[test]
fn accessors_that_give_an_attribute() {
    let (_folder, workspace) = application();
    let first_name = method(&workspace, "User", "firstName");
    assert_eq!(
        (first_name.kind.as_str(), first_name.metadata["attribute"].as_str()),
        ("accessor", Some("first_name"))
    );
    assert!(first_name.tags.contains(&"mutator".to_string()));
    assert_eq!(method(&workspace, "User", "secret").kind, "mutator");
    assert_eq!(method(&workspace, "User", "getFullNameAttribute").kind, "accessor");
    assert_eq!(method(&workspace, "User", "setEmailAttribute").kind, "mutator");
    assert_eq!(method(&workspace, "User", "rename").kind, "method");
}

#[test]
fn scopes_by_attribute() {
    let (_folder, workspace) = application();
    let popular = method(&workspace, "User", "popular");
    assert_eq!(
        (popular.kind.as_str(), popular.metadata["scope"].as_str()),
        ("scope", Some("popular"))
    );
    let of_type = method(&workspace, "User", "scopeOfType");
    assert_eq!(
        (of_type.kind.as_str(), of_type.metadata["scope"].as_str()),
        ("scope", Some("ofType"))
    );
}

#[test]
fn models_through_a_base_class_of_the_application() {
    let (_folder, workspace) = application();
    for name in ["Role", "Post", "Tag", "OrderStatus", "BaseModel", "Membership"] {
        assert_eq!(class(&workspace, name).kind, "model", "{name}");
    }
    assert_eq!(class(&workspace, "Money").kind, "class");
    assert!(class(&workspace, "Money").table.is_empty());
    assert_eq!(class(&workspace, "Status").kind, "enum");
}

#[test]
fn inferred_tables() {
    let (_folder, workspace) = application();
    for (name, table) in [
        ("User", "users"),
        ("OrderStatus", "order_statuses"),
        ("Membership", "membership"),
        ("Category", "shop_categories"),
        ("Phone", "phones"),
    ] {
        assert_eq!(class(&workspace, name).table, table);
    }
    assert_eq!(class(&workspace, "OrderStatus").metadata["table_inferred"], true);
    assert!(!class(&workspace, "Phone").metadata.contains_key("table_inferred"));
}

#[test]
fn no_timestamps() {
    let (_folder, workspace) = application();
    assert_eq!(class(&workspace, "User").metadata["timestamps"], false);
    assert!(!class(&workspace, "Post").metadata.contains_key("timestamps"));
    let role = class(&workspace, "Role");
    assert_eq!(
        (
            role.metadata["primary_key"].as_str(),
            role.metadata["key_type"].as_str()
        ),
        (Some("role_id"), Some("string"))
    );
    assert_eq!(
        (&role.metadata["incrementing"], role.metadata["connection"].as_str()),
        (&serde_json::json!(false), Some("directory"))
    );
}

#[test]
fn groups_give_their_prefix() {
    let (_folder, workspace) = application();
    let routes = routes(&workspace);
    let found = lines(&routes, "routes/web.php");
    let show = "App\\Http\\Controllers\\PhotoController@show";
    assert!(
        found.contains(&format!(
            "GET /admin/users/{{id}} {show} admin.users.show [web,auth,verified,can:see]"
        )),
        "{found:#?}"
    );
    let orders = "App\\Http\\Controllers\\OrderController";
    assert!(
        found.contains(&format!("GET /orders/{{id}} {orders}@show  [web,auth,verified]")),
        "{found:#?}"
    );
    assert!(
        found.contains(&format!(
            "PUT /legacy/order {orders}@store legacy.order [web,throttle:60]"
        )),
        "{found:#?}"
    );
    let hook = routes.iter().find(|route| route.uri == "/hook").unwrap();
    assert_eq!(
        (hook.method.as_str(), hook.action.as_str(), hook.domain.as_str()),
        ("ANY", "Closure", "{account}.example.com")
    );
}

#[test]
fn routes_have_names() {
    let (_folder, workspace) = application();
    let routes = routes(&workspace);
    let names: Vec<&str> = routes.iter().map(|route| route.name.as_str()).collect();
    for name in [
        "welcome",
        "admin.users.show",
        "admin.photos.index",
        "orders.store",
        "legacy.order",
        "api.photos.update",
        "albums.destroy",
    ] {
        assert!(names.contains(&name), "{name} among {names:?}");
    }
}

#[test]
fn routes_have_middleware() {
    let (_folder, workspace) = application();
    let routes = routes(&workspace);
    let of = |name: &str| {
        routes
            .iter()
            .find(|route| route.name == name)
            .unwrap()
            .middleware
            .clone()
    };
    assert_eq!(of("admin.users.show"), ["web", "auth", "verified", "can:see"]);
    assert_eq!(of("admin.photos.index"), ["web", "auth"]);
    assert_eq!(of("api.photos.index"), ["api", "auth:sanctum"]);
    let user = routes.iter().find(|route| route.name == "admin.users.show").unwrap();
    assert_eq!(user.patterns["id"], "[0-9]+");
}

#[test]
fn api_resources() {
    let (_folder, workspace) = application();
    let routes = routes(&workspace);
    let found: Vec<String> = routes
        .iter()
        .filter(|route| route.path == "routes/api.php")
        .map(|route| format!("{} {} {}", route.method, route.uri, route.name))
        .collect();
    assert_eq!(
        found,
        [
            "GET /api/v1/photos api.photos.index",
            "POST /api/v1/photos api.photos.store",
            "GET /api/v1/photos/{photo} api.photos.show",
            "PUT|PATCH /api/v1/photos/{photo} api.photos.update",
            "DELETE /api/v1/photos/{photo} api.photos.destroy",
            "GET /api/v1/photos/{photo}/comments api.photos.comments.index",
            "POST /api/v1/photos/{photo}/comments api.photos.comments.store",
            "GET /api/v1/comments/{comment} api.photos.comments.show",
            "PUT|PATCH /api/v1/comments/{comment} api.photos.comments.update",
            "GET /api/v1/profile api.profile.show",
            "GET /api/v1/profile/edit api.profile.edit",
            "PUT|PATCH /api/v1/profile api.profile.update",
        ]
    );
    let albums = routes.iter().filter(|route| route.resource == "albums").count();
    assert_eq!(albums, 7);
    let web: Vec<&str> = routes
        .iter()
        .filter(|route| route.resource == "photos" && route.path == "routes/web.php")
        .map(|route| route.uri.as_str())
        .collect();
    assert_eq!(web, ["/admin/photos", "/admin/photos/{photo}"]);
}

#[test]
fn other_routes() {
    let (_folder, workspace) = application();
    let found = lines(&routes(&workspace), "routes/web.php");
    assert_eq!(
        found[..5],
        [
            "GET / Closure  [web]",
            "GET /welcome View welcome welcome [web]",
            "ANY /here Redirect /there  [web]",
            "POST /server App\\Http\\Controllers\\ProvisionServer  [web]",
            "GET|POST /search App\\Http\\Controllers\\OrderController@show  [web]",
        ]
    );
}

#[test]
fn many_to_many_knows_its_table_and_both_keys() {
    let (_folder, workspace) = application();
    let user = class(&workspace, "User");
    let roles = relation(&user, "roles");
    assert_eq!(roles.type_, "BelongsToMany<App\\Role>");
    assert_eq!(
        (
            roles.pivot_table.as_str(),
            roles.foreign_key.as_str(),
            roles.related_pivot_key.as_str(),
            roles.local_key.as_str()
        ),
        ("role_user", "user_id", "role_role_id", "id")
    );
    assert_eq!(
        roles.pivot_columns,
        ["active", "created_by", "created_at", "updated_at"]
    );
    assert_eq!(
        roles.inferred,
        ["pivot_table", "foreign_key", "related_pivot_key", "local_key"]
    );
    assert_eq!(roles.description, "The roles that belong to the user.");
    let teams = relation(&user, "teams");
    assert_eq!(
        (
            teams.pivot_table.as_str(),
            teams.foreign_key.as_str(),
            teams.related_pivot_key.as_str(),
            teams.pivot_accessor.as_str()
        ),
        ("team_members", "member_id", "team_id", "membership")
    );
    assert_eq!(teams.pivot_model, "App\\Models\\Membership");
    let method = method(&workspace, "User", "roles");
    assert_eq!(
        (method.returns[0].type_.as_str(), method.returns[0].source_hint.as_str()),
        ("BelongsToMany<App\\Role>", "inferred_relation")
    );
    assert_eq!(method.metadata["relation"]["pivot_table"], "role_user");
    let options = &method.parameters[0];
    assert_eq!(
        (
            options.name.as_str(),
            options.type_.as_str(),
            options.default.as_str(),
            options.description.as_str()
        ),
        ("options", "array<string, int>", "[]", "how to load them")
    );
}

#[test]
fn every_other_kind_of_relation() {
    let (_folder, workspace) = application();
    let user = class(&workspace, "User");
    let post = class(&workspace, "Post");
    let key = |relation: &RelationDescriptor| {
        (
            relation.type_.clone(),
            relation.foreign_key.clone(),
            relation.local_key.clone(),
        )
    };
    let own = |type_: &str, foreign: &str, local: &str| (type_.to_string(), foreign.to_string(), local.to_string());
    assert_eq!(
        key(relation(&user, "phone")),
        own("HasOne<App\\Models\\Phone>", "user_id", "id")
    );
    assert_eq!(
        key(relation(&user, "posts")),
        own("HasMany<App\\Models\\Post>", "author_id", "id")
    );
    assert_eq!(
        key(relation(&user, "latestPost")),
        own("HasOne<App\\Models\\Post>", "author_id", "id")
    );
    assert_eq!(
        key(relation(&post, "author")),
        own("BelongsTo<App\\Models\\User>", "author_id", "id")
    );
    assert_eq!(
        key(relation(&post, "editor")),
        own("BelongsTo<App\\Models\\User>", "edited_by", "id")
    );
    assert_eq!(
        key(relation(&post, "category")),
        own("BelongsTo<App\\Models\\Category>", "category_id", "id")
    );
    assert_eq!(
        key(relation(&post, "comments")),
        own("MorphMany<App\\Models\\Comment>", "commentable_id", "id")
    );
    let tags = relation(&post, "tags");
    assert_eq!(
        (
            tags.type_.as_str(),
            tags.pivot_table.as_str(),
            tags.foreign_key.as_str(),
            tags.related_pivot_key.as_str()
        ),
        ("MorphToMany<App\\Models\\Tag>", "taggables", "taggable_id", "tag_id")
    );
    let tag = class(&workspace, "Tag");
    let posts = relation(&tag, "posts");
    assert_eq!(
        (
            posts.type_.as_str(),
            posts.relation_kind.as_str(),
            posts.foreign_key.as_str(),
            posts.related_pivot_key.as_str()
        ),
        (
            "MorphToMany<App\\Models\\Post>",
            "morphedByMany",
            "tag_id",
            "taggable_id"
        )
    );
    let comment = class(&workspace, "Comment");
    let commentable = relation(&comment, "commentable");
    assert_eq!(
        (commentable.type_.as_str(), commentable.foreign_key.as_str()),
        ("MorphTo", "commentable_id")
    );
    assert_eq!(relation(&comment, "parent").type_, "BelongsTo<App\\Models\\Comment>");
    assert_eq!(comment.metadata["touches"][0], "commentable");
    // The key of the related model counts.
    let role = class(&workspace, "Role");
    assert_eq!(relation(&role, "users").foreign_key, "role_role_id");
}

#[test]
fn controllers_know_their_routes() {
    let (_folder, workspace) = application();
    let photos = class(&workspace, "App\\Http\\Controllers\\PhotoController");
    assert!(photos.tags.contains(&"laravel:controller".to_string()));
    assert_eq!(
        (&photos.metadata["is_resource"], photos.metadata.get("is_api")),
        (&serde_json::json!(true), None)
    );
    assert_eq!(photos.metadata["middleware"][0], "auth");
    let index = photos.methods.iter().find(|method| method.name == "index").unwrap();
    assert_eq!(
        index.metadata["routes"][0],
        "GET /admin/photos admin.photos.index [web, auth]"
    );
    let api = class(&workspace, "App\\Http\\Controllers\\Api\\PhotoController");
    assert_eq!(api.metadata["is_api"], true);
    assert!(
        api.metadata["routes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|line| line == "GET /api/v1/photos api.photos.index [api, auth:sanctum]")
    );
    let ask = FunctionDetails {
        function_name: "index".to_string(),
        class_name: Some("PhotoController".to_string()),
        package: Some("App\\Http\\Controllers\\Api".to_string()),
        ..FunctionDetails::default()
    };
    let index = function_details(&workspace, &ask).unwrap().function;
    assert_eq!(index.location.file_path, "app/Http/Controllers/Api/PhotoController.php");
    assert_eq!(index.metadata["routes"].as_array().unwrap().len(), 2);
}

#[test]
fn a_constructor_is_one_and_the_class_name_decides() {
    let (_folder, workspace) = application();
    let constructor = method(&workspace, "Money", "__construct");
    assert_eq!(constructor.kind, "constructor");
    let parameters: Vec<(&str, &str, &str)> = constructor
        .parameters
        .iter()
        .map(|one| (one.name.as_str(), one.type_.as_str(), one.default.as_str()))
        .collect();
    assert_eq!(parameters, [("cents", "int", ""), ("currency", "string", "'EUR'")]);
    assert_eq!(
        method(&workspace, "Money", "roles").location.file_path,
        "app/Models/Money.php"
    );
    assert_eq!(
        method(&workspace, "User", "roles").location.file_path,
        "app/Models/User.php"
    );
    // A method of a trait is the class's too.
    assert_eq!(
        method(&workspace, "User", "avatar").location.file_path,
        "app/Models/Concerns/HasAvatar.php"
    );
    let ask = FunctionDetails {
        function_name: "roles".to_string(),
        ..FunctionDetails::default()
    };
    let error = function_details(&workspace, &ask).unwrap_err();
    assert_eq!(error.code(), "ambiguous_symbol");
}
