//! Runs every example of `docs/formats/gcx.md`: a JSON block and the GCX1 block after it.

#[test]
fn the_examples_are_true() {
    let page = include_str!("../../../docs/formats/gcx.md");
    let mut examples = 0;
    let mut json = None;
    for block in page.split("```").skip(1).step_by(2) {
        let (language, body) = block.split_once('\n').expect("a block names its language");
        match language {
            "json" => json = Some(serde_json::from_str::<serde_json::Value>(body).expect("the block is JSON")),
            "gcx" => {
                let value = json.take().expect("a JSON block comes before");
                assert_eq!(wire::gcx::to_string("example", &value).unwrap(), body);
                assert_eq!(wire::gcx::from_str(body).unwrap(), value);
                examples += 1;
            }
            "gcx-sent" => {
                assert!(wire::decode(body).is_ok(), "{body}");
                assert!((0..body.len()).all(|end| wire::decode(&body[..end]).is_err()));
            }
            other => panic!("a block of `{other}`"),
        }
    }
    assert_eq!(examples, 8);
}
