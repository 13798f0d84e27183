//! Kotlin: packages as in Java, whose classes it shares; functions live in packages too, and calling a class makes an instance.

use super::java;
use super::{BaseOrder, Dispatch, Generic, Operation, Policy};

pub(super) const KOTLIN: Policy = Policy {
    languages: &["kotlin"],
    prefix: "java",
    register: java::register,
    module: java::module,
    bare_members: true,
    calls_construct: true,
    order: BaseOrder::DepthFirst,
    overloads: true,
    dispatch: Dispatch::Overrides,
    packages_visible: true,
    extensions: true,
    call_member: "invoke",
    methods: &[
        ("get", Operation::Get),
        ("getOrPut", Operation::GetOrPut),
        ("first", Operation::Element),
        ("firstOrNull", Operation::Element),
        ("last", Operation::Element),
        ("lastOrNull", Operation::Element),
        ("single", Operation::Element),
        ("find", Operation::Find),
        ("forEach", Operation::ForEach),
        ("onEach", Operation::Filter),
        ("any", Operation::ForEach),
        ("all", Operation::ForEach),
        ("map", Operation::Map),
        ("mapNotNull", Operation::Map),
        ("flatMap", Operation::Map),
        ("filter", Operation::Filter),
        ("filterNotNull", Operation::Same),
        ("sortedBy", Operation::Filter),
        ("fold", Operation::Fold),
        ("add", Operation::Append(0)),
        ("addAll", Operation::Extend),
        ("put", Operation::Put),
        ("toList", Operation::Same),
        ("toSet", Operation::Same),
        ("values", Operation::Same),
    ],
    generics: &[("Class", Generic::TypeOf), ("KClass", Generic::TypeOf)],
    ..Policy::PLAIN
};
