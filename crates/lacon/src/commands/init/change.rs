//! One change of one configuration file, and how it is taken back.
//!
//! The one trick: a file is edited as text by parsers that keep comments and layout, and then both texts are read as values: the
//! new one must be the old one with this change and nothing else, or the file is not touched.

use anyhow::{Context, Result, bail, ensure};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// What to put into a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// A member of nested JSON objects.
    Member {
        path: Vec<&'static str>,
        value: Value,
        comments: Comments,
    },
    /// An element of a JSON array inside nested objects.
    Element {
        path: Vec<&'static str>,
        value: Value,
        comments: Comments,
    },
    /// A TOML table.
    Table { path: Vec<&'static str>, value: Value },
    /// A member of a mapping at the top of a YAML file, written as a block: `parent:`, below it `name:`, below that the lines.
    YamlMember {
        parent: &'static str,
        name: &'static str,
        lines: Vec<String>,
    },
    /// A text between two markers.
    Block { text: String },
    /// The whole file, which is Lacon's own.
    Whole { text: String },
}

/// Whether the client reads JSON with comments and trailing commas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    Allowed,
    Refused,
}

/// What a change would do to a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edit {
    /// The new text.
    Write(String),
    /// It is there already.
    Nothing,
    /// Something else stands in its place.
    Occupied,
}

/// Whether what stands in the place may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Keep,
    Replace,
}

pub(super) const BLOCK_BEGIN: &str = "<!-- lacon:begin -->";
pub(super) const BLOCK_END: &str = "<!-- lacon:end -->";

impl Change {
    /// The text of the file with the change; `before` is `None` where there is no file.
    pub(crate) fn apply(&self, before: Option<&str>, taken: Taken) -> Result<Edit> {
        match self {
            Change::Member { path, value, comments } => member(before, path, value, *comments, taken),
            Change::Element { path, value, comments } => element(before, path, value, *comments),
            Change::Table { path, value } => table(before, path, value, taken),
            Change::YamlMember { parent, name, lines } => {
                let before = before.unwrap_or_default();
                let edit = yaml_member(before, parent, name, lines, taken)?;
                if let Edit::Write(after) = &edit
                    && taken == Taken::Keep
                {
                    // There is no reader of YAML here: that nothing else changed is seen by taking it out again.
                    let back = without_yaml_member(after, parent, name)?;
                    ensure!(
                        back.trim_end() == before.trim_end(),
                        "it cannot be changed without changing something else"
                    );
                }
                Ok(edit)
            }
            Change::Block { text } => block(before.unwrap_or_default(), text),
            Change::Whole { text } => Ok(match before {
                None => Edit::Write(text.clone()),
                Some(before) if before == text => Edit::Nothing,
                Some(_) if taken == Taken::Replace => Edit::Write(text.clone()),
                Some(_) => Edit::Occupied,
            }),
        }
    }

    /// The text of the file without the change, for a file that was edited since; `None` when nothing is left of it.
    pub(super) fn revert(&self, now: &str) -> Result<Option<String>> {
        match self {
            Change::Member { path, comments, .. } => {
                let (root, _) = parse(now, *comments)?;
                if let Some((last, parents)) = path.split_last()
                    && let Some(object) = descend(&root, parents)
                    && let Some(member) = object.get(last)
                {
                    member.remove();
                }
                Ok(Some(root.to_string()))
            }
            Change::Element { path, value, comments } => {
                let (root, _) = parse(now, *comments)?;
                if let Some((last, parents)) = path.split_last()
                    && let Some(object) = descend(&root, parents)
                    && let Some(array) = object.array_value(last)
                {
                    for element in array.elements() {
                        if element.to_serde_value().as_ref() == Some(value) {
                            element.remove();
                        }
                    }
                }
                Ok(Some(root.to_string()))
            }
            Change::Table { path, .. } => {
                let mut document: toml_edit::DocumentMut = now.parse()?;
                if let Some((last, parents)) = path.split_last() {
                    let mut at: Option<&mut dyn toml_edit::TableLike> = Some(document.as_table_mut());
                    for name in parents {
                        at = at
                            .and_then(|table| table.get_mut(name))
                            .and_then(toml_edit::Item::as_table_like_mut);
                    }
                    if let Some(table) = at {
                        table.remove(last);
                    }
                }
                Ok(Some(document.to_string()))
            }
            Change::YamlMember { parent, name, .. } => {
                let left = without_yaml_member(now, parent, name)?;
                Ok((!left.trim().is_empty()).then_some(left))
            }
            Change::Block { .. } => {
                let Some((before, _, after)) = around_block(now)? else {
                    return Ok(Some(now.to_string()));
                };
                let left = format!("{}{}", before.trim_end_matches('\n'), after.trim_start_matches('\n'));
                Ok(
                    (!left.trim().is_empty()).then(|| match before.trim().is_empty() || after.trim().is_empty() {
                        true => format!("{}\n", left.trim_end_matches('\n')),
                        false => format!(
                            "{}\n\n{}",
                            before.trim_end_matches('\n'),
                            after.trim_start_matches('\n')
                        ),
                    }),
                )
            }
            Change::Whole { text } => {
                ensure!(now == text, "it was edited since");
                Ok(None)
            }
        }
    }
}

/// The document and its value. An empty file is an empty object.
fn parse(text: &str, comments: Comments) -> Result<(CstRootNode, Value)> {
    let allowed = comments == Comments::Allowed;
    let options = ParseOptions {
        allow_comments: allowed,
        allow_trailing_commas: allowed,
        allow_loose_object_property_names: false,
        ..ParseOptions::default()
    };
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    if comments == Comments::Refused {
        // The editor's parser lets some comments pass; the client's does not.
        serde_json::from_str::<Value>(text).context("it is not JSON that can be read")?;
    }
    let root = CstRootNode::parse(text, &options).context("it is not JSON that can be read")?;
    let value = root.to_serde_value().context("it holds no JSON value")?;
    ensure!(value.is_object(), "it holds no JSON object");
    Ok((root, value))
}

fn descend(root: &CstRootNode, path: &[&str]) -> Option<CstObject> {
    path.iter()
        .try_fold(root.object_value()?, |object, name| object.object_value(name))
}

/// The object at `path`, made where it is not there; an error where something else is.
fn reach(root: &CstRootNode, path: &[&str]) -> Result<CstObject> {
    let top = root.object_value_or_create().context("it holds no JSON object")?;
    path.iter().try_fold(top, |object, name| {
        object
            .object_value_or_create(name)
            .with_context(|| format!("`{name}` is not an object"))
    })
}

fn member(
    before: Option<&str>,
    path: &[&'static str],
    value: &Value,
    comments: Comments,
    taken: Taken,
) -> Result<Edit> {
    let (root, old) = parse(before.unwrap_or_default(), comments)?;
    let Some((last, parents)) = path.split_last() else {
        bail!("no place to put it");
    };
    let object = reach(&root, parents)?;
    match object.get(last) {
        Some(there) => {
            let there_value = there.value().and_then(|node| node.to_serde_value());
            if there_value.as_ref() == Some(value) {
                return Ok(Edit::Nothing);
            }
            if taken == Taken::Keep {
                return Ok(Edit::Occupied);
            }
            there.set_value(input(value));
        }
        None => {
            object.append(last, input(value));
        }
    }
    let mut expected = old;
    let mut at = &mut expected;
    for name in parents {
        at = at
            .as_object_mut()
            .context("it holds no JSON object")?
            .entry(*name)
            .or_insert_with(|| Value::Object(Map::new()));
    }
    at.as_object_mut()
        .context("it holds no JSON object")?
        .insert((*last).to_string(), value.clone());
    checked(root.to_string(), &expected, comments)
}

fn element(before: Option<&str>, path: &[&'static str], value: &Value, comments: Comments) -> Result<Edit> {
    let (root, old) = parse(before.unwrap_or_default(), comments)?;
    let Some((last, parents)) = path.split_last() else {
        bail!("no place to put it");
    };
    let array = reach(&root, parents)?
        .array_value_or_create(last)
        .with_context(|| format!("`{last}` is not an array"))?;
    let is_there = |node: &jsonc_parser::cst::CstNode| node.to_serde_value().as_ref() == Some(value);
    if array.elements().iter().any(is_there) {
        return Ok(Edit::Nothing);
    }
    array.append(input(value));
    let mut expected = old;
    let mut at = &mut expected;
    for name in parents {
        at = at
            .as_object_mut()
            .context("it holds no JSON object")?
            .entry(*name)
            .or_insert_with(|| Value::Object(Map::new()));
    }
    at.as_object_mut()
        .context("it holds no JSON object")?
        .entry(*last)
        .or_insert_with(|| Value::Array(Vec::new()))
        .as_array_mut()
        .context("it holds no JSON array")?
        .push(value.clone());
    checked(root.to_string(), &expected, comments)
}

/// The text, if it says what it should.
fn checked(mut text: String, expected: &Value, comments: Comments) -> Result<Edit> {
    let (_, value) = parse(&text, comments)?;
    ensure!(
        value == *expected,
        "it cannot be changed without changing something else"
    );
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Edit::Write(text))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}

fn table(before: Option<&str>, path: &[&'static str], value: &Value, taken: Taken) -> Result<Edit> {
    let before = before.unwrap_or_default();
    let mut document: toml_edit::DocumentMut = before.parse().context("it is not TOML that can be read")?;
    let mut expected: toml::Table = before.parse().context("it is not TOML that can be read")?;
    let wanted: toml::Table = toml::Table::try_from(value).context("no TOML table")?;
    let Some((last, parents)) = path.split_last() else {
        bail!("no place to put it");
    };
    let mut at = document.as_table_mut();
    let mut expected_at = &mut expected;
    for name in parents {
        let item = at.entry(name).or_insert_with(|| {
            let mut parent = toml_edit::Table::new();
            parent.set_implicit(true);
            toml_edit::Item::Table(parent)
        });
        at = item
            .as_table_mut()
            .with_context(|| format!("`{name}` is not a table"))?;
        expected_at = expected_at
            .entry(*name)
            .or_insert_with(|| toml::Value::Table(toml::Table::new()))
            .as_table_mut()
            .with_context(|| format!("`{name}` is not a table"))?;
    }
    match expected_at.get(*last) {
        Some(there) if there.as_table() == Some(&wanted) => return Ok(Edit::Nothing),
        Some(_) if taken == Taken::Keep => return Ok(Edit::Occupied),
        _ => {}
    }
    expected_at.insert((*last).to_string(), toml::Value::Table(wanted.clone()));
    let mut own = toml_edit::Table::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        own.insert(name, toml_edit::Item::Value(toml_value(value)?));
    }
    if !before.trim().is_empty() {
        own.decor_mut().set_prefix("\n");
    }
    at.insert(last, toml_edit::Item::Table(own));
    let text = document.to_string();
    let now: toml::Table = text.parse()?;
    ensure!(now == expected, "it cannot be changed without changing something else");
    Ok(Edit::Write(text))
}

/// A JSON value as TOML writes it in one line.
fn toml_value(value: &Value) -> Result<toml_edit::Value> {
    Ok(match value {
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => number.as_i64().context("no whole number")?.into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            let items: Result<Vec<toml_edit::Value>> = items.iter().map(toml_value).collect();
            toml_edit::Value::Array(items?.into_iter().collect())
        }
        Value::Null | Value::Object(_) => bail!("it cannot be written in one line of TOML"),
    })
}

/// How far a line of YAML is indented; nothing where it says nothing.
fn yaml_indent(line: &str) -> Option<usize> {
    let text = line.trim_start_matches(' ');
    let says = !text.trim().is_empty() && !text.starts_with('#');
    says.then(|| line.len() - text.len())
}

/// A mapping at the top of a YAML file: its line, and the lines of its block, those behind the last that says something left out.
fn yaml_block(lines: &[&str], parent: &str) -> Result<Option<(usize, std::ops::Range<usize>)>> {
    let key = format!("{parent}:");
    let Some(at) = lines.iter().position(|line| line.starts_with(&key)) else {
        return Ok(None);
    };
    let rest = lines[at][key.len()..].trim();
    ensure!(
        rest.is_empty() || rest.starts_with('#'),
        "`{parent}` is not written as a block in it"
    );
    let below = lines[at + 1..].iter().map(|line| yaml_indent(line));
    let mut end = at + 1;
    for (number, indent) in below.enumerate() {
        match indent {
            Some(0) => break,
            Some(_) => end = at + 2 + number,
            None => {}
        }
    }
    Ok(Some((at, at + 1..end)))
}

/// The lines of one member of a block, with how far it is indented.
fn yaml_member_lines(
    lines: &[&str],
    block: std::ops::Range<usize>,
    name: &str,
) -> Result<(usize, Option<std::ops::Range<usize>>)> {
    let indent = lines[block.clone()]
        .iter()
        .find_map(|line| yaml_indent(line))
        .unwrap_or(2);
    let key = format!("{name}:");
    let is_member = |line: &str| yaml_indent(line) == Some(indent) && line.trim_start().starts_with(&key);
    ensure!(
        !lines[block.clone()]
            .iter()
            .any(|line| line.contains('\t')
                || (yaml_indent(line) == Some(indent) && line.trim_start().starts_with("- "))),
        "it is not written as a block of names"
    );
    let Some(first) = block.clone().find(|at| is_member(lines[*at])) else {
        return Ok((indent, None));
    };
    let mut end = first + 1;
    for (at, line) in lines.iter().enumerate().take(block.end).skip(first + 1) {
        match yaml_indent(line) {
            Some(deep) if deep <= indent => break,
            Some(_) => end = at + 1,
            None => {}
        }
    }
    Ok((indent, Some(first..end)))
}

fn yaml_member(before: &str, parent: &str, name: &str, members: &[String], taken: Taken) -> Result<Edit> {
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<&str> = before.lines().collect();
    ensure!(
        !lines.iter().any(|line| line.starts_with('\t')),
        "it is indented with tabs, which YAML does not allow"
    );
    let written = |indent: usize| -> Vec<String> {
        let head = format!("{:indent$}{name}:", "");
        let inner = members
            .iter()
            .map(|member| format!("{:inner$}{member}", "", inner = indent + 2));
        std::iter::once(head).chain(inner).collect()
    };
    let mut after: Vec<String> = lines.iter().map(|line| (*line).to_string()).collect();
    match yaml_block(&lines, parent)? {
        None => {
            after.push(format!("{parent}:"));
            after.extend(written(2));
        }
        Some((at, block)) => {
            let (indent, there) = yaml_member_lines(&lines, block, name)?;
            match there {
                Some(there) if lines[there.clone()].iter().eq(written(indent).iter()) => return Ok(Edit::Nothing),
                Some(_) if taken == Taken::Keep => return Ok(Edit::Occupied),
                Some(there) => drop(after.splice(there, written(indent))),
                None => drop(after.splice(at + 1..at + 1, written(indent))),
            }
        }
    }
    Ok(Edit::Write(format!("{}{newline}", after.join(newline))))
}

fn without_yaml_member(now: &str, parent: &str, name: &str) -> Result<String> {
    let newline = if now.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<&str> = now.lines().collect();
    let Some((at, block)) = yaml_block(&lines, parent)? else {
        return Ok(now.to_string());
    };
    let (_, Some(there)) = yaml_member_lines(&lines, block.clone(), name)? else {
        return Ok(now.to_string());
    };
    let is_last = lines[block.clone()]
        .iter()
        .enumerate()
        .all(|(number, line)| yaml_indent(line).is_none() || there.contains(&(block.start + number)));
    // A mapping without members is none.
    let gone = if is_last { at..there.end } else { there };
    let left: Vec<&str> = lines
        .iter()
        .enumerate()
        .filter(|(number, _)| !gone.contains(number))
        .map(|(_, line)| *line)
        .collect();
    Ok(match left.is_empty() {
        true => String::new(),
        false => format!("{}{newline}", left.join(newline)),
    })
}

fn block(before: &str, text: &str) -> Result<Edit> {
    let block = format!("{BLOCK_BEGIN}\n{}\n{BLOCK_END}\n", text.trim());
    let after = match around_block(before)? {
        Some((head, _, tail)) => format!("{head}{block}{tail}"),
        None if before.trim().is_empty() => block,
        None => format!("{}\n\n{block}", before.trim_end_matches('\n')),
    };
    Ok(match after == before {
        true => Edit::Nothing,
        false => Edit::Write(after),
    })
}

/// What is before, in and after the block; `None` where there is no block.
fn around_block(text: &str) -> Result<Option<(&str, &str, &str)>> {
    match (text.find(BLOCK_BEGIN), text.find(BLOCK_END)) {
        (None, None) => Ok(None),
        (Some(begin), Some(end)) if begin < end => {
            let end = end + BLOCK_END.len();
            let end = end + usize::from(text[end..].starts_with('\n'));
            Ok(Some((&text[..begin], &text[begin..end], &text[end..])))
        }
        _ => bail!("the markers `{BLOCK_BEGIN}` and `{BLOCK_END}` do not match"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn server(comments: Comments) -> Change {
        Change::Member {
            path: vec!["mcpServers", "lacon"],
            value: json!({"command": "lacon", "args": ["mcp"]}),
            comments,
        }
    }

    fn written(change: &Change, before: Option<&str>) -> String {
        match change.apply(before, Taken::Keep).unwrap() {
            Edit::Write(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn comments_and_layout_stay() {
        let before = "{\n    // mine\n    \"theme\": \"dark\", /* really */\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}, // keep\n    },\n}\n";
        let change = server(Comments::Allowed);
        let after = written(&change, Some(before));
        expect![[r#"
            {
                // mine
                "theme": "dark", /* really */
                "mcpServers": {
                    "other": {"command": "x"}, // keep
                    "lacon": {
                        "command": "lacon",
                        "args": ["mcp"],
                    },
                },
            }
        "#]]
        .assert_eq(&after);
        assert_eq!(change.apply(Some(&after), Taken::Keep).unwrap(), Edit::Nothing);
        let reverted = change.revert(&after).unwrap().unwrap();
        assert!(
            reverted.contains("// mine") && !reverted.contains("lacon"),
            "{reverted}"
        );
    }

    #[test]
    fn a_new_file_is_made_and_a_strange_one_is_left_alone() {
        let change = server(Comments::Refused);
        expect![[r#"
            {
              "mcpServers": {
                "lacon": {
                  "command": "lacon",
                  "args": ["mcp"]
                }
              }
            }
        "#]]
        .assert_eq(&written(&change, None));
        for strange in [
            "{\"mcpServers\": [",
            "[]",
            "{\"mcpServers\": 3}",
            "{} // a comment",
            "not JSON",
        ] {
            assert!(change.apply(Some(strange), Taken::Keep).is_err(), "{strange}");
        }
        let other = "{\"mcpServers\": {\"lacon\": {\"command\": \"mine\"}}}";
        assert_eq!(change.apply(Some(other), Taken::Keep).unwrap(), Edit::Occupied);
        assert!(matches!(
            change.apply(Some(other), Taken::Replace).unwrap(),
            Edit::Write(_)
        ));
    }

    #[test]
    fn a_toml_table_goes_in_and_out() {
        let change = Change::Table {
            path: vec!["mcp_servers", "lacon"],
            value: json!({"command": "lacon", "args": ["mcp"]}),
        };
        let before = "# mine\nmodel = \"x\" # best\n\n[mcp_servers.other]\ncommand = \"y\"\n";
        let after = written(&change, Some(before));
        expect![[r##"
            # mine
            model = "x" # best

            [mcp_servers.other]
            command = "y"

            [mcp_servers.lacon]
            command = "lacon"
            args = ["mcp"]
        "##]]
        .assert_eq(&after);
        assert_eq!(change.revert(&after).unwrap().as_deref(), Some(before));
        assert_eq!(change.apply(Some(&after), Taken::Keep).unwrap(), Edit::Nothing);
        assert!(change.apply(Some("mcp_servers = 3\n"), Taken::Keep).is_err());
        assert!(change.apply(Some("[a\n"), Taken::Keep).is_err());
        assert!(written(&change, None).starts_with("[mcp_servers.lacon]\n"));
    }

    #[test]
    fn a_member_of_a_yaml_block_goes_in_and_out() {
        let change = Change::YamlMember {
            parent: "extensions",
            name: "lacon",
            lines: vec!["enabled: true".into(), "args: [\"mcp\"]".into()],
        };
        let before = "# mine\nGOOSE_MODEL: best\nextensions: # tools\n    developer:\n        enabled: true\n\n    # off\n    memory:\n        enabled: false\nlast: 1\n";
        let after = written(&change, Some(before));
        expect![[r#"
            # mine
            GOOSE_MODEL: best
            extensions: # tools
                lacon:
                  enabled: true
                  args: ["mcp"]
                developer:
                    enabled: true

                # off
                memory:
                    enabled: false
            last: 1
        "#]]
        .assert_eq(&after);
        assert_eq!(change.apply(Some(&after), Taken::Keep).unwrap(), Edit::Nothing);
        assert_eq!(change.revert(&after).unwrap().as_deref(), Some(before));
        for before in ["", "a: 1\n", "a: 1\r\nextensions:\r\n  x:\r\n    enabled: true\r\n"] {
            let after = written(&change, Some(before));
            assert!(after.contains("  lacon:"), "{after}");
            let back = change.revert(&after).unwrap();
            assert_eq!(back.as_deref().unwrap_or_default(), before);
        }
        let other = "extensions:\n  lacon:\n    enabled: false\n";
        assert_eq!(change.apply(Some(other), Taken::Keep).unwrap(), Edit::Occupied);
        for strange in [
            "extensions: {}\n",
            "extensions:\n  - name: x\n",
            "extensions:\n\tx: 1\n",
        ] {
            assert!(change.apply(Some(strange), Taken::Keep).is_err(), "{strange}");
        }
    }

    #[test]
    fn an_element_is_added_once() {
        let change = Change::Element {
            path: vec!["hooks", "SessionStart"],
            value: json!({"hooks": [{"type": "command", "command": "lacon status --brief"}]}),
            comments: Comments::Refused,
        };
        let before = "{\"hooks\": {\"SessionStart\": [{\"hooks\": []}]}, \"model\": \"m\"}\n";
        let after = written(&change, Some(before));
        assert_eq!(change.apply(Some(&after), Taken::Keep).unwrap(), Edit::Nothing);
        let reverted: Value = serde_json::from_str(&change.revert(&after).unwrap().unwrap()).unwrap();
        assert_eq!(reverted, serde_json::from_str::<Value>(before).unwrap());
    }

    #[test]
    fn a_block_is_replaced_in_place_and_taken_out() {
        let change = Change::Block {
            text: "New words.".into(),
        };
        let before = "# Project\n\nMine.\n";
        let after = written(&change, Some(before));
        assert!(after.starts_with(before) && after.contains("New words."), "{after}");
        assert_eq!(change.revert(&after).unwrap().as_deref(), Some(before));
        let old = "# A\n\n<!-- lacon:begin -->\nOld.\n<!-- lacon:end -->\n\n# B\n";
        assert_eq!(
            written(&change, Some(old)),
            "# A\n\n<!-- lacon:begin -->\nNew words.\n<!-- lacon:end -->\n\n# B\n"
        );
        assert_eq!(change.revert(old).unwrap().as_deref(), Some("# A\n\n# B\n"));
        assert_eq!(change.revert(&written(&change, None)).unwrap(), None);
        assert!(change.apply(Some("<!-- lacon:end -->"), Taken::Keep).is_err());
    }
}
