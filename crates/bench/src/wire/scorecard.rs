//! Sizes and round trips: every case in every form, and the totals.

use std::io::Write;

use comfy_table::{CellAlignment, Table, TableStyle};
use serde::Serialize;
use serde_json::Value;
use terminal::failure::Failure;
use wire::Format;
use wire::layout::Layout;
use wire::tokens::Tokenizer;

use super::cases::Case;
use super::speed::Speed;

/// The forms compared, in the order of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    Json,
    JsonPretty,
    Gcx,
    Gcf,
    Toon,
    Auto,
}

impl Form {
    pub(crate) const ALL: [Self; 6] = [
        Self::Json,
        Self::JsonPretty,
        Self::Gcx,
        Self::Gcf,
        Self::Toon,
        Self::Auto,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::JsonPretty => "JSON pretty",
            Self::Gcx => "GCX1",
            Self::Gcf => "GCF",
            Self::Toon => "TOON",
            Self::Auto => "auto",
        }
    }
}

/// Everything measured.
#[derive(Serialize)]
pub(crate) struct Scorecard {
    pub(crate) cases: Vec<Row>,
    pub(crate) totals: Vec<Measure>,
    /// Median over the cases of the tokens (cl100k) saved against compact JSON, in percent.
    pub(crate) median_saving: Vec<(Form, f64)>,
    pub(crate) estimator: Estimator,
    pub(crate) speed: Vec<Speed>,
}

/// One case in every form.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) forms: Vec<Measure>,
}

/// One form of one case, or of all.
#[derive(Clone, Serialize)]
pub(crate) struct Measure {
    pub(crate) form: Form,
    /// What `auto` chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chosen: Option<String>,
    pub(crate) bytes: usize,
    pub(crate) cl100k: usize,
    pub(crate) o200k: usize,
    pub(crate) gzip: usize,
    /// Whether decoding gave the same value, compared.
    pub(crate) round_trip: bool,
}

/// How far the token estimate is off, in percent of the exact count.
#[derive(Serialize)]
pub(crate) struct Estimator {
    pub(crate) texts: usize,
    pub(crate) mean_error: f64,
    pub(crate) worst_error: f64,
}

/// Encodes, counts and decodes every case in every form.
pub(crate) fn measure(cases: &[Case]) -> Result<Scorecard, Failure> {
    let mut rows = Vec::new();
    let mut errors = Vec::new();
    for case in cases {
        let mut forms = Vec::new();
        for form in Form::ALL {
            let (text, chosen) = encode(case, form)?;
            for tokenizer in Tokenizer::ALL {
                let exact = tokenizer.count(&text) as f64;
                errors.push((tokenizer.estimate(&text) as f64 - exact).abs() / exact.max(1.0) * 100.0);
            }
            forms.push(Measure {
                form,
                chosen: chosen.map(|format| format.to_string()),
                bytes: text.len(),
                cl100k: Tokenizer::Cl100k.count(&text),
                o200k: Tokenizer::O200k.count(&text),
                gzip: gzip_length(&text)?,
                round_trip: decode(case, form, &text).is_some_and(|value| wire::same(&value, &case.value)),
            });
        }
        rows.push(Row {
            name: case.name.clone(),
            forms,
        });
    }
    let totals = Form::ALL
        .iter()
        .enumerate()
        .map(|(at, &form)| {
            let sum = |count: fn(&Measure) -> usize| rows.iter().map(|row| count(&row.forms[at])).sum();
            Measure {
                form,
                chosen: None,
                bytes: sum(|measure| measure.bytes),
                cl100k: sum(|measure| measure.cl100k),
                o200k: sum(|measure| measure.o200k),
                gzip: sum(|measure| measure.gzip),
                round_trip: rows.iter().all(|row| row.forms[at].round_trip),
            }
        })
        .collect();
    let median_saving = Form::ALL
        .iter()
        .enumerate()
        .map(|(at, &form)| (form, median(rows.iter().map(|row| saving(row, at)))))
        .collect();
    let estimator = Estimator {
        texts: errors.len(),
        mean_error: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
        worst_error: errors.iter().copied().fold(0.0, f64::max),
    };
    Ok(Scorecard {
        cases: rows,
        totals,
        median_saving,
        estimator,
        speed: Vec::new(),
    })
}

fn encode(case: &Case, form: Form) -> Result<(String, Option<Format>), Failure> {
    let generic = Layout::generic(&case.tool);
    let layout = case.layout.unwrap_or(&generic);
    Ok(match form {
        Form::Json => (serde_json::to_string(&case.value)?, None),
        Form::JsonPretty => (serde_json::to_string_pretty(&case.value)?, None),
        Form::Gcx => (wire::gcx::to_string_with(layout, &case.value)?, None),
        Form::Gcf => (wire::gcf::to_string(&case.value)?, None),
        Form::Toon => (toon_format::encode_default(&case.value)?, None),
        Form::Auto => {
            let encoded = wire::encode(&case.value, layout, Format::Auto, Tokenizer::Cl100k)?;
            (encoded.text, Some(encoded.format))
        }
    })
}

fn decode(case: &Case, form: Form, text: &str) -> Option<Value> {
    match form {
        Form::Json | Form::JsonPretty => serde_json::from_str(text).ok(),
        Form::Gcx => match case.layout {
            Some(layout) => wire::gcx::value_with(layout, text).ok(),
            None => wire::gcx::from_str(text).ok(),
        },
        Form::Gcf => wire::gcf::from_str(text).ok(),
        Form::Toon => toon_format::decode_default(text).ok(),
        Form::Auto => wire::decode(text).ok(),
    }
}

fn gzip_length(text: &str) -> Result<usize, Failure> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes())?;
    Ok(encoder.finish()?.len())
}

/// Percent of JSON's cl100k tokens that a form saves; negative when it costs more.
pub(crate) fn saving(row: &Row, form: usize) -> f64 {
    100.0 - 100.0 * row.forms[form].cl100k as f64 / row.forms[0].cl100k.max(1) as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        length if length % 2 == 1 => values[length / 2],
        length => (values[length / 2 - 1] + values[length / 2]) / 2.0,
    }
}

impl Scorecard {
    /// The scorecard as text in one of comfy-table's styles.
    pub(crate) fn render(&self, style: TableStyle) -> String {
        let mut parts = Vec::new();

        let mut tokens = table(style);
        tokens.set_header(
            ["cl100k tokens"]
                .into_iter()
                .map(str::to_owned)
                .chain(Form::ALL.map(|form| form.name().to_owned()))
                .chain(["auto is".to_owned()]),
        );
        for row in &self.cases {
            let mut cells = vec![row.name.clone()];
            for (at, measure) in row.forms.iter().enumerate() {
                let broken = if measure.round_trip { "" } else { " lossy" };
                cells.push(match at {
                    0 => measure.cl100k.to_string(),
                    _ => format!("{} ({:+.1} %){broken}", measure.cl100k, -saving(row, at)),
                });
            }
            cells.push(
                row.forms
                    .last()
                    .and_then(|measure| measure.chosen.clone())
                    .unwrap_or_default(),
            );
            tokens.add_row(cells);
        }
        align_right(&mut tokens);
        parts.push(tokens.to_string());

        let mut totals = table(style);
        totals.set_header([
            "all cases",
            "bytes",
            "cl100k",
            "o200k",
            "gzip",
            "cl100k against JSON",
            "median",
            "round trip",
        ]);
        for (measure, (_, median)) in self.totals.iter().zip(&self.median_saving) {
            let json = &self.totals[0];
            totals.add_row([
                measure.form.name().to_owned(),
                measure.bytes.to_string(),
                measure.cl100k.to_string(),
                measure.o200k.to_string(),
                measure.gzip.to_string(),
                format!(
                    "{:+.1} %",
                    100.0 * measure.cl100k as f64 / json.cl100k.max(1) as f64 - 100.0
                ),
                format!("{:+.1} %", -median),
                if measure.round_trip { "equal" } else { "not equal" }.to_owned(),
            ]);
        }
        align_right(&mut totals);
        parts.push(totals.to_string());

        if !self.speed.is_empty() {
            let mut speed = table(style);
            speed.set_header([
                "speed",
                "format",
                "encode MB/s",
                "× serde_json",
                "decode MB/s",
                "× serde_json",
            ]);
            for measured in &self.speed {
                speed.add_row([
                    measured.data.to_owned(),
                    measured.format.to_owned(),
                    format!("{:.0}", measured.encode_mb_s),
                    format!("{:.2}", measured.encode_ratio),
                    format!("{:.0}", measured.decode_mb_s),
                    format!("{:.2}", measured.decode_ratio),
                ]);
            }
            align_right(&mut speed);
            parts.push(speed.to_string());
        }

        parts.push(format!(
            "Token estimate: off by {:.1} % on average and {:.1} % at worst, over {} counts.",
            self.estimator.mean_error, self.estimator.worst_error, self.estimator.texts
        ));
        parts.join("\n\n")
    }
}

fn table(style: TableStyle) -> Table {
    let mut table = Table::new();
    table.load_style(style);
    table
}

fn align_right(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens (cl100k) of the format's published scorecard: compact JSON and GCX1.
    const PUBLISHED: &[(&str, usize, usize)] = &[
        ("01_search_symbols_small", 181, 125),
        ("02_search_symbols_large", 1068, 742),
        ("03_get_symbol_source_small", 257, 255),
        ("04_get_symbol_source_large", 534, 532),
        ("05_batch_symbols", 335, 241),
        ("07_find_usages_large", 569, 351),
        ("09_analyze_hotspots", 506, 318),
        ("10_analyze_dead_code", 288, 198),
        ("11_contracts_list", 580, 463),
        ("12_get_callers_medium", 750, 532),
        ("14_get_dependents_small", 329, 239),
        ("15_get_test_targets", 311, 262),
        ("16_find_implementations", 224, 157),
        ("17_find_cycles", 87, 90),
        ("18_graph_stats", 162, 174),
        ("19_get_editing_context", 233, 171),
        ("20_get_repo_outline", 237, 224),
    ];

    /// Tokens (cl100k) of the built-in cases: compact JSON, which says that a case is still the same, and the most that GCX1 and
    /// the automatic choice may cost.
    const RECORDED: &[(&str, usize, usize, usize)] = &[
        ("search_symbols 0", 13, 24, 13),
        ("search_symbols 4", 239, 187, 118),
        ("search_symbols 20", 1089, 775, 477),
        ("search_symbols 100", 5562, 4004, 2309),
        ("get_symbol_source short", 199, 196, 164),
        ("get_symbol_source long", 778, 767, 696),
        ("batch_symbols 6", 359, 276, 276),
        ("find_usages 3", 231, 179, 77),
        ("find_usages 40", 2624, 1703, 463),
        ("find_usages 300", 19392, 12343, 2676),
        ("get_file_summary 24", 1177, 867, 611),
        ("get_callers 5", 419, 329, 122),
        ("get_callers 30", 2402, 1693, 517),
        ("get_call_chain 15", 1215, 876, 315),
        ("get_dependencies 12", 983, 718, 265),
        ("get_dependents 60", 4823, 3357, 904),
        ("find_implementations 6", 500, 388, 138),
        ("get_editing_context", 494, 408, 157),
        ("smart_context 12", 727, 553, 302),
        ("context_for_task 18", 1653, 1233, 1233),
        ("blast_radius 40", 3303, 2421, 2421),
        ("analyze.dead_code 16", 762, 546, 257),
        ("analyze.hotspots 20", 1128, 727, 383),
        ("analyze.cycles 4", 424, 373, 373),
        ("contracts.list 14", 926, 696, 696),
        ("contracts.orphans 5", 210, 169, 169),
        ("get_repo_outline", 321, 287, 268),
        ("find_references 6", 178, 125, 125),
        ("find_references 80", 2320, 1471, 1471),
        ("get_diagnostics 1", 68, 68, 68),
        ("get_diagnostics 30", 1725, 1388, 1014),
        ("list_symbols 40", 1547, 1239, 1088),
        ("symbol_hierarchy 5", 230, 226, 226),
        ("index_status", 58, 68, 58),
        ("error", 38, 44, 38),
        ("hover", 68, 77, 68),
    ];

    #[test]
    fn every_built_in_case_round_trips_and_costs_no_more_than_recorded() {
        let cases = super::super::examples::cases().expect("the cases");
        let scorecard = measure(&cases).expect("every case encodes");
        let at = |form: Form| Form::ALL.iter().position(|other| *other == form).expect("listed");
        let (mut wrong, mut names) = (Vec::new(), Vec::new());
        for row in &scorecard.cases {
            for measure in &row.forms {
                assert!(measure.round_trip, "{} as {}", row.name, measure.form.name());
            }
            let tokens = |form: Form| row.forms[at(form)].cl100k;
            let costs = (tokens(Form::Json), tokens(Form::Gcx), tokens(Form::Auto));
            assert!(costs.2 <= costs.0 && costs.2 <= costs.1, "{}: {costs:?}", row.name);
            let recorded = RECORDED.iter().find(|(name, ..)| *name == row.name);
            if recorded.is_none_or(|(_, json, gcx, auto)| *json != costs.0 || costs.1 > *gcx || costs.2 > *auto) {
                wrong.push(format!("(\"{}\", {}, {}, {})", row.name, costs.0, costs.1, costs.2));
            }
            names.push(row.name.as_str());
        }
        assert!(wrong.is_empty(), "not as recorded:\n{}", wrong.join("\n"));
        assert_eq!(names, RECORDED.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
        let total = |form: Form| scorecard.totals[at(form)].cl100k;
        assert!(total(Form::Auto) < total(Form::Gcx) && total(Form::Auto) < total(Form::Gcf));
        assert!(
            scorecard.estimator.mean_error < 6.0,
            "{}",
            scorecard.estimator.mean_error
        );
    }

    /// The format's own cases, where the larger test data is there.
    fn shared_cases() -> Option<Vec<Case>> {
        let directory = testkit::shared("conformance/gcx")?;
        Some(super::super::cases::load(&directory).expect("cases"))
    }

    #[test]
    fn every_case_round_trips_and_costs_no_more_than_published() {
        let Some(cases) = shared_cases() else { return };
        let scorecard = measure(&cases).expect("every case encodes");
        assert_eq!(scorecard.cases.len(), 18, "cases were added or lost");
        let at = |form: Form| Form::ALL.iter().position(|other| *other == form).expect("listed");
        for row in &scorecard.cases {
            for measure in &row.forms {
                assert!(measure.round_trip, "{} as {}", row.name, measure.form.name());
            }
            let auto = &row.forms[at(Form::Auto)];
            assert!(auto.cl100k <= row.forms[at(Form::Json)].cl100k, "{}", row.name);
            if let Some((_, _, published)) = PUBLISHED.iter().find(|(name, ..)| *name == row.name) {
                let gcx = row.forms[at(Form::Gcx)].cl100k;
                assert!(gcx <= *published, "{}: {gcx} tokens, published {published}", row.name);
            }
        }
        let total = |form: Form| scorecard.totals[at(form)].cl100k;
        assert!(total(Form::Auto) < total(Form::Gcx) && total(Form::Auto) < total(Form::Gcf));
        assert!(scorecard.median_saving[at(Form::Gcx)].1 >= 27.0);
        assert!(scorecard.estimator.mean_error < 6.0 && scorecard.estimator.worst_error < 20.0);
    }

    /// The published figure for `smart_context` (299 tokens) was measured on a text that drops `task`; so is this one.
    #[test]
    fn smart_context_without_its_task_costs_no_more_than_published() {
        let Some(cases) = shared_cases() else { return };
        let mut case = cases
            .into_iter()
            .find(|case| case.name == "13_smart_context")
            .expect("it is there");
        case.value
            .as_object_mut()
            .expect("an object")
            .remove("task")
            .expect("it has a task");
        let (text, _) = encode(&case, Form::Gcx).expect("it encodes");
        assert!(Tokenizer::Cl100k.count(&text) <= 299);
    }
}
