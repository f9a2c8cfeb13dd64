//! Taints of devices and tolerations of requests.

use drayman_api::{DeviceTaint, DeviceTaintEffect, DeviceToleration, DeviceTolerationOperator};

/// The first taint that keeps a request from a device: it has an effect on scheduling, and no toleration matches it.
pub(crate) fn blocking<'a>(taints: &'a [DeviceTaint], tolerations: &[DeviceToleration]) -> Option<&'a DeviceTaint> {
    taints.iter().find(|taint| {
        matches!(taint.effect, DeviceTaintEffect::NoSchedule | DeviceTaintEffect::NoExecute)
            && !tolerations.iter().any(|toleration| tolerates(toleration, taint))
    })
}

/// Whether a toleration matches a taint. An absent or empty key or effect matches all; the value counts even where the key is empty.
fn tolerates(toleration: &DeviceToleration, taint: &DeviceTaint) -> bool {
    let effect = toleration.effect.as_ref().map_or("", DeviceTaintEffect::as_str);
    let key = toleration.key.as_deref().unwrap_or_default();
    let value_matches = match toleration.operator.as_ref().map_or("", DeviceTolerationOperator::as_str) {
        "" | "Equal" => toleration.value.as_deref().unwrap_or_default() == taint.value,
        "Exists" => true,
        _ => false,
    };
    (effect.is_empty() || effect == taint.effect.as_str()) && (key.is_empty() || key == taint.key) && value_matches
}

#[cfg(test)]
mod tests {
    use drayman_api::{DeviceTaint, DeviceToleration};

    use super::blocking;

    fn blocks(taint: serde_json::Value, toleration: serde_json::Value) -> bool {
        let taint: DeviceTaint = serde_json::from_value(taint).expect("a taint");
        let toleration: DeviceToleration = serde_json::from_value(toleration).expect("a toleration");
        blocking(&[taint], &[toleration]).is_some()
    }

    #[test]
    fn toleration_matches_by_effect_key_and_value() {
        let taint = || serde_json::json!({"key": "ecc", "value": "v", "effect": "NoSchedule"});
        for (toleration, blocked) in [
            (serde_json::json!({"operator": "Exists"}), false),
            (serde_json::json!({"key": "ecc", "operator": "Exists", "effect": "NoSchedule"}), false),
            (serde_json::json!({"key": "ecc", "operator": "Exists", "effect": "NoExecute"}), true),
            (serde_json::json!({"key": "ecc", "value": "v"}), false),
            (serde_json::json!({"operator": "Equal", "value": "v"}), false),
            (serde_json::json!({"operator": "Equal"}), true),
            (serde_json::json!({"key": "ecc", "operator": "Near", "value": "v"}), true),
        ] {
            assert_eq!(blocks(taint(), toleration.clone()), blocked, "{toleration}");
        }
    }

    #[test]
    fn taint_without_effect_on_scheduling_blocks_nobody() {
        for effect in ["None", "Sometimes"] {
            let taint = serde_json::json!({"key": "ecc", "effect": effect});
            assert!(!blocks(taint, serde_json::json!({"key": "other"})));
        }
    }
}
