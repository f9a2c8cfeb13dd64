//! Explanations as one line, as a tree, and as JSON.

use serde_json::{Value, json};

use crate::explain::{Explanation, Fact, RequestFacts};

/// Longest line, in bytes: it has to fit beside upstream's text in an Event.
const LINE_LIMIT: usize = 300;

impl Explanation {
    /// One line of at most 300 bytes about the first request that is not met.
    pub fn line(&self) -> String {
        let reasons = |facts: &[Fact]| facts.iter().map(with_count).collect::<Vec<_>>().join("; ");
        let line = match self.unmet() {
            Some(request) => {
                let facts: Vec<_> = request.facts.iter().chain(&self.pools).cloned().collect();
                let why = if facts.is_empty() { String::new() } else { format!(": {}", reasons(&facts)) };
                format!("{}{why}", summary(request))
            }
            None if self.pools.is_empty() => COMPETE.to_owned(),
            None => format!("{COMPETE}: {}", reasons(&self.pools)),
        };
        shortened(line)
    }

    /// A tree for a terminal, without a line break at the end.
    pub fn tree(&self) -> String {
        let mut lines = vec![format!("no allocation on node `{}`", self.node)];
        let pools = self.pools.iter().map(|fact| (fact.kind.message(), Vec::new()));
        let compete = self.requests_compete().then(|| (COMPETE.to_owned(), Vec::new()));
        let requests = self
            .requests
            .iter()
            .map(|request| (summary(request), request.facts.iter().map(with_examples).collect::<Vec<_>>()));
        let branches: Vec<_> = pools.chain(requests).chain(compete).collect();
        for (index, (text, leaves)) in branches.iter().enumerate() {
            let last = index + 1 == branches.len();
            lines.push(format!("{} {text}", if last { "└─" } else { "├─" }));
            for (leaf, text) in leaves.iter().enumerate() {
                let stem = if last { "   " } else { "│  " };
                lines.push(format!("{stem}{} {text}", if leaf + 1 == leaves.len() { "└─" } else { "├─" }));
            }
        }
        lines.join("\n")
    }

    /// JSON with a version of its own; see the docs for codes.
    pub fn json(&self) -> Value {
        json!({
            "version": 1,
            "node": self.node,
            "pools": self.pools.iter().map(fact_json).collect::<Vec<_>>(),
            "requests": self.requests.iter().map(|request| json!({
                "claim": request.claim,
                "request": request.request,
                "class": request.class,
                "wanted": request.wanted,
                "usable": request.usable,
                "devices": request.devices,
                "met": request.is_met(),
                "facts": request.facts.iter().map(fact_json).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "requestsCompete": self.requests_compete(),
        })
    }
}

const COMPETE: &str = "every request finds devices by itself, but not all together";

fn summary(request: &RequestFacts) -> String {
    let RequestFacts { claim, request: name, class, usable, devices, .. } = request;
    let wanted = match request.wanted {
        Some(1) => "1 device".to_owned(),
        Some(count) => format!("{count} devices"),
        None => "all devices".to_owned(),
    };
    format!("claim `{claim}`, request `{name}` needs {wanted} of class `{class}`, {usable} of {devices} can be used")
}

fn with_count(fact: &Fact) -> String {
    match fact.count {
        0 => fact.kind.message(),
        1 => format!("1 device: {}", fact.kind.message()),
        count => format!("{count} devices: {}", fact.kind.message()),
    }
}

fn with_examples(fact: &Fact) -> String {
    let devices = if fact.count == 1 { "device" } else { "devices" };
    let more = if fact.count > fact.examples.len() { ", …" } else { "" };
    format!("{} {devices}: {} ({}{more})", fact.count, fact.kind.message(), fact.examples.join(", "))
}

fn fact_json(fact: &Fact) -> Value {
    json!({
        "code": fact.kind.code(),
        "message": fact.kind.message(),
        "devices": {"count": fact.count, "examples": fact.examples},
    })
}

/// Cuts on a character boundary.
fn shortened(mut line: String) -> String {
    const MORE: &str = " …";
    if line.len() <= LINE_LIMIT {
        return line;
    }
    let mut end = LINE_LIMIT - MORE.len();
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.truncate(end);
    line + MORE
}
