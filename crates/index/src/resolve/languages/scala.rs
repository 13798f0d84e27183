//! Scala: packages as in Java, whose classes it shares; a class is called to make an instance, an object by its `apply`.

use super::java;
use super::{BaseOrder, Dispatch, Operation, Policy};

pub(super) const SCALA: Policy = Policy {
    languages: &["scala"],
    prefix: "java",
    register: java::register,
    module: java::module,
    bare_members: true,
    calls_construct: true,
    order: BaseOrder::DepthFirst,
    overloads: true,
    dispatch: Dispatch::Overrides,
    packages_visible: true,
    call_member: "apply",
    methods: &[
        ("foreach", Operation::ForEach),
        ("map", Operation::Map),
        ("flatMap", Operation::Map),
        ("collect", Operation::Map),
        ("filter", Operation::Filter),
        ("filterNot", Operation::Filter),
        ("withFilter", Operation::Filter),
        ("sortBy", Operation::Filter),
        ("find", Operation::Find),
        ("exists", Operation::Find),
        ("forall", Operation::Find),
        ("head", Operation::Element),
        ("last", Operation::Element),
        ("headOption", Operation::Same),
        ("toList", Operation::Same),
        ("toSeq", Operation::Same),
        ("getOrElse", Operation::Else),
        ("orElse", Operation::Or),
    ],
    ..Policy::PLAIN
};
