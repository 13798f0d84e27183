//! Resources spelled out as the routes that they make: `Route::resource`, `apiResource`, `singleton`, with what is said after them.

use std::collections::BTreeMap;

use syntax::facts::ExpressionId;

use super::{Attributes, Route, join, namespaced, placed, shown_uri};
use crate::descriptors::php;
use crate::descriptors::reading::Reading;
use crate::laravel::inflect::singular;
use crate::laravel::values::{Called, Chain, argument, entries, text, texts};

/// A kind of resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    Web,
    Api,
    Singleton,
    ApiSingleton,
}

pub(super) fn resource_kind(name: &str) -> Option<Resource> {
    Some(match name {
        "resource" | "resources" | "softDeletableResources" => Resource::Web,
        "apiResource" | "apiResources" => Resource::Api,
        "singleton" | "singletons" => Resource::Singleton,
        "apiSingleton" | "apiSingletons" => Resource::ApiSingleton,
        _ => return None,
    })
}

/// The routes that a resource makes.
pub(super) fn resources(
    reading: &Reading,
    call: &Called,
    kind: Resource,
    chain: &Chain,
    attributes: &Attributes,
) -> Vec<Route> {
    let mut found = Vec::new();
    let Some(first) = call.arguments.first() else {
        return found;
    };
    let several = entries(reading, first.value);
    let named: Vec<(String, String)> = match several.is_empty() {
        false => several
            .into_iter()
            .map(|(name, value)| (name, class_text(reading, value, attributes)))
            .collect(),
        true => {
            let controller = argument(&call.arguments, "controller", 1).map(|id| class_text(reading, id, attributes));
            text(reading, first.value)
                .map(|name| (name, controller.unwrap_or_default()))
                .into_iter()
                .collect()
        }
    };
    let options = ResourceOptions::of(reading, call, chain);
    for (name, controller) in named {
        for (verb_name, action) in options.actions(kind) {
            let mut route = placed(
                Route {
                    method: verb_name.to_string(),
                    action: format!("{controller}@{action}"),
                    resource: name.clone(),
                    ..Route::default()
                },
                attributes,
            );
            route.uri = shown_uri(&join(&attributes.prefix, &resource_uri(&name, action, kind, &options)));
            let own = match (options.names.get(action), &options.name) {
                (Some(name), _) => name.clone(),
                (None, Some(base)) => format!("{base}.{action}"),
                (None, None) => format!("{}.{action}", name.trim_matches('/').replace('/', ".")),
            };
            route.name = format!("{}{own}", attributes.name);
            found.push(route);
        }
    }
    found
}

fn class_text(reading: &Reading, id: ExpressionId, attributes: &Attributes) -> String {
    match text(reading, id) {
        Some(written) => namespaced(&attributes.namespace, &written),
        None => php::class_name(reading, id),
    }
}

/// What the calls after a resource (or the options given with it) change.
#[derive(Default)]
struct ResourceOptions {
    only: Option<Vec<String>>,
    except: Vec<String>,
    names: BTreeMap<String, String>,
    name: Option<String>,
    parameters: BTreeMap<String, String>,
    shallow: bool,
    creatable: bool,
    destroyable: bool,
}

impl ResourceOptions {
    fn of(reading: &Reading, call: &Called, chain: &Chain) -> ResourceOptions {
        let mut options = ResourceOptions::default();
        if let Some(given) = argument(&call.arguments, "options", 2) {
            for (key, value) in entries(reading, given) {
                options.set(reading, &key, &[value]);
            }
        }
        for later in chain
            .calls
            .iter()
            .skip_while(|other| other.callee != call.callee)
            .skip(1)
        {
            let given: Vec<ExpressionId> = later.arguments.iter().map(|argument| argument.value).collect();
            options.set(reading, &later.name, &given);
        }
        options
    }

    fn set(&mut self, reading: &Reading, name: &str, given: &[ExpressionId]) {
        let all = || -> Vec<String> { given.iter().flat_map(|id| texts(reading, *id)).collect() };
        let pairs = || -> Vec<(String, String)> {
            let Some(first) = given.first() else { return Vec::new() };
            entries(reading, *first)
                .into_iter()
                .filter_map(|(key, value)| Some((key, text(reading, value)?)))
                .collect()
        };
        match name {
            "only" => self.only = Some(all()),
            "except" => self.except = all(),
            "names" | "name" => {
                let named = pairs();
                match (named.is_empty(), all().as_slice()) {
                    (false, _) => self.names.extend(named),
                    (true, [base]) => self.name = Some(base.clone()),
                    (true, [action, name, ..]) => {
                        self.names.insert(action.clone(), name.clone());
                    }
                    (true, []) => {}
                }
            }
            "parameters" => self.parameters.extend(pairs()),
            "parameter" => {
                if let [from, to, ..] = all().as_slice() {
                    self.parameters.insert(from.clone(), to.clone());
                }
            }
            "shallow" => self.shallow = true,
            "creatable" => self.creatable = true,
            "destroyable" => self.destroyable = true,
            _ => {}
        }
    }

    fn actions(&self, kind: Resource) -> Vec<(&'static str, &'static str)> {
        const ALL: [(&str, &str); 7] = [
            ("GET", "index"),
            ("GET", "create"),
            ("POST", "store"),
            ("GET", "show"),
            ("GET", "edit"),
            ("PUT|PATCH", "update"),
            ("DELETE", "destroy"),
        ];
        let is_singleton = matches!(kind, Resource::Singleton | Resource::ApiSingleton);
        let has = |action: &str| match action {
            "index" if is_singleton => false,
            "create" | "edit" if matches!(kind, Resource::Api | Resource::ApiSingleton) => false,
            "create" | "store" if is_singleton => self.creatable,
            "destroy" if is_singleton => self.creatable || self.destroyable,
            _ => true,
        };
        let listed = ALL.into_iter().filter(|(_, action)| {
            has(action)
                && self
                    .only
                    .as_ref()
                    .is_none_or(|only| only.iter().any(|one| one == action))
                && !self.except.iter().any(|one| one == action)
        });
        listed.collect()
    }

    fn parameter(&self, segment: &str) -> String {
        let known = self.parameters.get(segment).cloned();
        format!("{{{}}}", known.unwrap_or_else(|| singular(segment).replace('-', "_")))
    }
}

/// `photos.comments` is `photos/{photo}/comments/{comment}`.
fn resource_uri(name: &str, action: &str, kind: Resource, options: &ResourceOptions) -> String {
    let segments: Vec<&str> = name.trim_matches('/').split('.').collect();
    let Some((last, before)) = segments.split_last() else {
        return String::new();
    };
    let has_own = matches!(action, "show" | "edit" | "update" | "destroy");
    let is_singleton = matches!(kind, Resource::Singleton | Resource::ApiSingleton);
    let mut uri = String::new();
    // A shallow route of one thing needs no parent to find it.
    if !(options.shallow && has_own) {
        for segment in before {
            uri = join(&uri, &join(segment, &options.parameter(segment)));
        }
    }
    uri = join(&uri, last);
    if has_own && !is_singleton {
        // `admin/photos` is a prefix and a resource.
        uri = join(&uri, &options.parameter(last.rsplit('/').next().unwrap_or(last)));
    }
    match action {
        "create" | "edit" => join(&uri, action),
        _ => uri,
    }
}
