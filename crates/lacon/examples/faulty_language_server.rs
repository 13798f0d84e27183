//! The misbehaving server of the tests, as a program.

fn main() {
    testkit::fake_language_server::main();
}
