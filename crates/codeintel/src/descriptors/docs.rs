//! Documentation comments of every language, read into one shape: what is said of the thing itself, of each parameter, of the
//! result, of errors.
//!
//! The one trick: comment marks are stripped first, so that there are only three notations left, whatever the language: tags
//! (`@param`, in all their dialects), XML elements, and sections with a heading.

mod sections;
mod tags;
mod xml;

/// What a documentation comment says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Documentation {
    /// Prose about the thing itself: paragraphs separated by an empty line.
    pub description: String,
    /// What is said of parameters, in order.
    pub parameters: Vec<Documented>,
    /// What is said of the result.
    pub returns: Vec<Documented>,
    /// What is said of errors; the type is the error's.
    pub throws: Vec<Documented>,
    /// What is said of fields or properties.
    pub properties: Vec<Documented>,
    /// The type of the thing itself (`@var`, `@type`, `<value>`).
    pub type_: String,
    /// Why not to use it, empty if no more is said than that.
    pub deprecated: Option<String>,
    /// Code that shows its use.
    pub examples: Vec<String>,
    /// What to look at as well.
    pub see: Vec<String>,
    /// Since which version it exists.
    pub since: String,
}

/// One thing that documentation speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Documented {
    /// Its name.
    pub name: String,
    /// Its type as documented.
    pub type_: String,
    /// What is said.
    pub description: String,
    /// Its default as documented.
    pub default: String,
}

/// Longest text that is read: a comment is written by people, and more than this is not one.
const MAX_COMMENT: usize = 64 * 1024;

/// Reads `comment`, marks included, as documentation of `language`.
pub fn parse(language: &str, comment: &str) -> Documentation {
    let lines = strip(language, cut(comment, MAX_COMMENT));
    let mut found = match language {
        "csharp" => xml::parse(&lines),
        "python" | "rust" => sections::parse(language, &lines),
        _ if lines.iter().any(|line| line.trim_start().starts_with("<summary>")) => xml::parse(&lines),
        _ => tags::parse(language, &lines),
    };
    if found.deprecated.is_none()
        && let Some((before, why)) = split_deprecated(&found.description)
    {
        found.deprecated = Some(why);
        found.description = before;
    }
    found
}

/// The first paragraph of a text.
pub fn first_paragraph(text: &str) -> &str {
    text.split("\n\n").next().unwrap_or(text).trim()
}

/// A first sentence as the index keeps it, without markup that the index leaves in.
pub fn plain(sentence: &str) -> String {
    if sentence.starts_with("<summary") || sentence.contains("</summary") {
        let lines = [sentence.replace("</summary", "</summary>").replace(">>", ">")];
        return first_paragraph(&xml::parse(&lines).description).to_string();
    }
    let brief = sentence.strip_prefix("\\brief ").unwrap_or(sentence);
    let end = brief.find(" \\").unwrap_or(brief.len());
    brief[..end].trim().to_string()
}

/// Go's and others' paragraph `Deprecated: …`.
fn split_deprecated(description: &str) -> Option<(String, String)> {
    let paragraphs: Vec<&str> = description.split("\n\n").collect();
    let at = paragraphs
        .iter()
        .position(|paragraph| paragraph.trim_start().starts_with("Deprecated:"))?;
    let why = paragraphs[at].trim_start().trim_start_matches("Deprecated:").trim();
    let rest: Vec<&str> = paragraphs
        .iter()
        .enumerate()
        .filter(|(number, _)| *number != at)
        .map(|(_, paragraph)| *paragraph)
        .collect();
    Some((rest.join("\n\n"), why.to_string()))
}

/// The lines of a comment without its marks; what is indented beyond the mark stays so.
fn strip(language: &str, comment: &str) -> Vec<String> {
    if language == "python" {
        return docstring(comment);
    }
    let trimmed = comment.trim();
    if trimmed.starts_with("=begin") {
        let lines = trimmed.lines().skip(1);
        return lines
            .take_while(|line| !line.starts_with("=end"))
            .map(str::to_string)
            .collect();
    }
    let mut lines = Vec::new();
    let mut in_block = false;
    for line in trimmed.lines() {
        let mut line = line.trim();
        if !in_block && let Some(rest) = line.strip_prefix("/*") {
            line = rest.trim_start_matches(['*', '!']);
            line = line.strip_prefix('<').unwrap_or(line);
            in_block = true;
        } else if in_block {
            line = match line.strip_prefix('*') {
                Some(rest) if !rest.starts_with('/') => rest,
                _ => line,
            };
        } else {
            line = marker(line);
        }
        if in_block && let Some(before) = line.strip_suffix("*/") {
            line = before.trim_end_matches('*');
            in_block = false;
        }
        lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end().to_string());
    }
    trim_empty(lines)
}

fn marker(line: &str) -> &str {
    for mark in ["///<", "//!<", "///", "//!", "//", "##", "#", "--", ";;"] {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest;
        }
    }
    line
}

/// A docstring without its quotes and without the indentation that its lines share, as Python itself reads it.
fn docstring(text: &str) -> Vec<String> {
    let text = text.trim();
    // Quotes may have letters before them; without quotes the text is what stands between them.
    let bare = text.trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B', 'f', 'F']);
    let quote = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find(|quote| bare.starts_with(quote));
    let text = match quote {
        Some(quote) => {
            let inside = bare.strip_prefix(quote).unwrap_or(bare);
            inside.strip_suffix(quote).unwrap_or(inside)
        }
        None if text.starts_with('#') => {
            return text
                .lines()
                .map(|line| marker(line.trim()).trim().to_string())
                .collect();
        }
        None => text,
    };
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let shared = text
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(indentation)
        .min()
        .unwrap_or(0);
    let lines = text.lines().enumerate().map(|(number, line)| match number {
        0 => line.trim().to_string(),
        _ => line
            .get(shared.min(indentation(line))..)
            .unwrap_or("")
            .trim_end()
            .to_string(),
    });
    trim_empty(lines.collect())
}

fn trim_empty(mut lines: Vec<String>) -> Vec<String> {
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    lines.split_off(first)
}

/// Lines as prose: those of a paragraph joined, paragraphs apart, code and lists as they are.
fn prose<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::new();
    let mut fenced = false;
    let mut fresh = true;
    for line in lines {
        let text = line.trim();
        let is_fence = text.starts_with("```") || text.starts_with("~~~");
        if text.is_empty() && !fenced {
            fresh = true;
            continue;
        }
        let is_item = text.starts_with("- ") || text.starts_with("* ") || text.starts_with('#');
        if !out.is_empty() {
            out.push_str(match (fresh, fenced || is_fence || is_item) {
                (true, _) => "\n\n",
                (false, true) => "\n",
                (false, false) => " ",
            });
        }
        out.push_str(if fenced && !is_fence { line } else { text });
        fresh = false;
        fenced ^= is_fence;
    }
    out
}

/// At most `most` bytes of `text`, cut between characters.
pub(super) fn cut(text: &str, most: usize) -> &str {
    match text.len() <= most {
        true => text,
        false => &text[..(0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)],
    }
}

#[cfg(test)]
mod tests {
    use super::{Documentation, Documented, parse};

    fn said(of: &[Documented]) -> Vec<(&str, &str, &str)> {
        let parts = of.iter();
        parts
            .map(|one| (one.name.as_str(), one.type_.as_str(), one.description.as_str()))
            .collect()
    }

    #[test]
    fn phpdoc() {
        let found = parse(
            "php",
            "/**\n     * Roles of the user.\n     *\n     * More words\n     * here.\n     *\n     * @param  array<string, int>  $options  what to\n     *     take\n     * @param string|null ...$more\n     * @return BelongsToMany<Role> the roles\n     * @throws \\RuntimeException when closed\n     * @deprecated use groups\n     */",
        );
        assert_eq!(found.description, "Roles of the user.\n\nMore words here.");
        assert_eq!(
            said(&found.parameters),
            [
                ("options", "array<string, int>", "what to take"),
                ("more", "string|null", "")
            ]
        );
        assert_eq!(said(&found.returns), [("", "BelongsToMany<Role>", "the roles")]);
        assert_eq!(said(&found.throws), [("", "\\RuntimeException", "when closed")]);
        assert_eq!(found.deprecated.as_deref(), Some("use groups"));
    }

    #[test]
    fn jsdoc_and_tsdoc() {
        let found = parse(
            "javascript",
            "/**\n * Makes one, see {@link Other}.\n * @param {string} name - the name\n * @param {{a: number}} [options={}] options\n * @param plain - of TSDoc\n * @returns {Promise<Cart>} the cart\n * @example\n * make('x')\n */",
        );
        assert_eq!(found.description, "Makes one, see Other.");
        assert_eq!(
            said(&found.parameters),
            [
                ("name", "string", "the name"),
                ("options", "{a: number}", "options"),
                ("plain", "", "of TSDoc")
            ]
        );
        assert_eq!(found.parameters[1].default, "{}");
        assert_eq!(said(&found.returns), [("", "Promise<Cart>", "the cart")]);
        assert_eq!(found.examples, ["make('x')"]);
    }

    #[test]
    fn javadoc_kdoc_and_doxygen() {
        let java = parse(
            "java",
            "/**\n * Adds {@code item}.\n * <p>Twice.\n * @param <T> of what\n * @param item what to add\n * @return whether it worked\n * @throws IllegalStateException when full\n */",
        );
        assert_eq!(java.description, "Adds item. Twice.");
        let listed = parse(
            "java",
            "/**\n * Sorts a <b>List&lt;T&gt;</b> or Map<K, V>:\n * <ul>\n * <li>by name</li>\n * <li>by age</li>\n * </ul>\n */",
        );
        assert_eq!(listed.description, "Sorts a List<T> or Map<K, V>:\n- by name\n- by age");
        assert_eq!(
            said(&java.parameters),
            [("T", "", "of what"), ("item", "", "what to add")]
        );
        assert_eq!(said(&java.returns), [("", "", "whether it worked")]);
        assert_eq!(said(&java.throws), [("", "IllegalStateException", "when full")]);
        let kotlin = parse(
            "kotlin",
            "/** A cart.\n * @property items the items\n * @param[n] how many */",
        );
        assert_eq!(said(&kotlin.properties), [("items", "", "the items")]);
        assert_eq!(said(&kotlin.parameters), [("n", "", "how many")]);
        let cpp = parse(
            "cpp",
            "/**\n * \\brief Adds.\n * \\param[in,out] item what to add\n * \\return whether it worked\n */",
        );
        assert_eq!(cpp.description, "Adds.");
        assert_eq!(said(&cpp.parameters), [("item", "", "what to add")]);
        assert_eq!(said(&cpp.returns), [("", "", "whether it worked")]);
        let c = parse(
            "c",
            "/**\n * kmalloc - allocate memory\n * @size: how many bytes\n * @flags: how\n *\n * Return: the memory\n */",
        );
        assert_eq!(
            said(&c.parameters),
            [("size", "", "how many bytes"), ("flags", "", "how")]
        );
    }

    #[test]
    fn yard() {
        let found = parse(
            "ruby",
            "# Adds an item.\n# @param item [Item] what to add\n# @param [Integer, nil] count how many\n# @option opts [String] :x (nil) the x\n# @return [Boolean] whether it worked\n# @raise [Full] when full",
        );
        assert_eq!(
            said(&found.parameters),
            [
                ("item", "Item", "what to add"),
                ("count", "Integer, nil", "how many"),
                ("opts[:x]", "String", "the x")
            ]
        );
        assert_eq!(said(&found.returns), [("", "Boolean", "whether it worked")]);
        assert_eq!(said(&found.throws), [("", "Full", "when full")]);
    }

    #[test]
    fn xml() {
        let found = parse(
            "csharp",
            "/// <summary>\n/// Adds <see cref=\"Item\"/> in.\n/// </summary>\n/// <param name=\"item\">what to add</param>\n/// <returns>whether it worked &amp; more</returns>\n/// <exception cref=\"Full\">when full</exception>",
        );
        assert_eq!(found.description, "Adds Item in.");
        assert_eq!(said(&found.parameters), [("item", "", "what to add")]);
        assert_eq!(said(&found.returns), [("", "", "whether it worked & more")]);
        assert_eq!(said(&found.throws), [("", "Full", "when full")]);
    }

    fn python(text: &str) -> Documentation {
        parse("python", text)
    }

    #[test]
    fn docstrings() {
        let google = python(
            "\"\"\"Adds.\n\n    Args:\n        item (Item): what to add.\n            More of it.\n        n (int, optional): how many\n        *rest: others\n\n    Returns:\n        bool: whether it worked\n\n    Raises:\n        ValueError: when full\n    \"\"\"",
        );
        assert_eq!(google.description, "Adds.");
        assert_eq!(
            said(&google.parameters),
            [
                ("item", "Item", "what to add. More of it."),
                ("n", "int", "how many"),
                ("rest", "", "others")
            ]
        );
        assert_eq!(said(&google.returns), [("", "bool", "whether it worked")]);
        assert_eq!(said(&google.throws), [("", "ValueError", "when full")]);
        let bare = python("Represent a lookup.\n\n    Args:\n        a: the a");
        assert_eq!(bare.description, "Represent a lookup.");
        assert_eq!(said(&bare.parameters), [("a", "", "the a")]);
        let numpy = python(
            "\"\"\"Np.\n\n    Parameters\n    ----------\n    x, z : int\n        The x.\n    y : {'a', 'b'}, optional\n        The y.\n\n    Returns\n    -------\n    out : ndarray\n        Result.\n    \"\"\"",
        );
        assert_eq!(
            said(&numpy.parameters),
            [
                ("x", "int", "The x."),
                ("z", "int", "The x."),
                ("y", "{'a', 'b'}", "The y.")
            ]
        );
        assert_eq!(said(&numpy.returns), [("out", "ndarray", "Result.")]);
        let rest = python(
            "\"\"\"Make.\n\n    :param a: the a\n    :type a: int\n    :param str b: the b\n    :returns: a cart\n    :rtype: Cart\n    :raises Full: when full\n    \"\"\"",
        );
        assert_eq!(said(&rest.parameters), [("a", "int", "the a"), ("b", "str", "the b")]);
        assert_eq!(said(&rest.returns), [("", "Cart", "a cart")]);
        assert_eq!(said(&rest.throws), [("", "Full", "when full")]);
    }

    #[test]
    fn rustdoc_and_godoc() {
        let rust = parse(
            "rust",
            "/// Makes one.\n///\n/// # Arguments\n///\n/// * `size` - how many fit\n/// * `names`: what they\n///   are called\n///\n/// # Returns\n///\n/// The cart.\n///\n/// # Errors\n///\n/// When full.\n///\n/// # Examples\n///\n/// ```\n/// make(1)\n/// ```",
        );
        assert_eq!(rust.description, "Makes one.");
        assert_eq!(
            said(&rust.parameters),
            [("size", "", "how many fit"), ("names", "", "what they are called")]
        );
        assert_eq!(said(&rust.returns), [("", "", "The cart.")]);
        assert_eq!(said(&rust.throws), [("", "", "When full.")]);
        assert_eq!(rust.examples, ["make(1)"]);
        let go = parse("go", "// Add puts\n// item in.\n//\n// Deprecated: use Put.");
        assert_eq!(
            (go.description.as_str(), go.deprecated.as_deref()),
            ("Add puts item in.", Some("use Put."))
        );
    }

    #[test]
    fn hostile_comments_end() {
        for language in ["php", "csharp", "python", "rust", "ruby", "cpp"] {
            for text in [
                "",
                "/**",
                "/***/",
                "\"\"\"",
                "@param",
                "<param name=",
                ":param",
                "/** @param {{{ */",
                "é",
                "# é\n#",
            ] {
                parse(language, text);
            }
            parse(language, &"@param é ".repeat(20_000));
            parse(language, &"<a ".repeat(40_000));
        }
    }
}
