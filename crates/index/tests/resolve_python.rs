//! Python: names, imports, values, classes.

mod common;

use common::check_calls;

#[test]
fn call_through_an_import_alias() {
    check_calls(
        r#"
//- app.py
from lib import greet as hi

def main():
    hi()
#   ^^ =calls lib.py:greet
//- lib.py
def greet(): ...
#   ^^^^^ def
"#,
    );
}
