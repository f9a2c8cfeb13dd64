//! Consumable capacity: what a request takes from a device, and whether that fits.

use std::collections::BTreeMap;

use drayman_api::{
    CapacityRequestPolicy, CapacityRequestPolicyRange, CapacityRequirements, DeviceCapacity, Quantity,
    split_qualified_name,
};
use thiserror::Error;

/// Amounts by name of the capacity.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// A requested capacity that cannot be computed with. The texts are upstream's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CapacityError {
    /// The request is outside of what the device's range can be computed with.
    #[error("capacity {capacity:?}: capacity request cannot be represented in the device's range arithmetic: {detail}")]
    NotRepresentable {
        /// Name of the capacity.
        capacity: String,
        /// Which number is too large.
        detail: String,
    },
    /// The amount is negative.
    #[error("capacity {capacity:?}: capacity value is negative")]
    Negative {
        /// Name of the capacity.
        capacity: String,
    },
}

/// How names and fractions are understood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapacityRules<'a> {
    /// Steps may be fractions.
    pub(crate) fractional: bool,
    /// With a driver, `name` and `driver/name` are one capacity; without, names are compared as they are written (upstream 1.37).
    pub(crate) driver: Option<&'a str>,
}

impl CapacityRules<'_> {
    fn same(&self, requested: &str, listed: &str) -> bool {
        requested == listed
            || self
                .driver
                .is_some_and(|driver| split_qualified_name(requested, driver) == split_qualified_name(listed, driver))
    }
}

/// What a request takes from a device: an amount for every capacity that the device lists, or `None` where the request names a capacity
/// that it does not list.
pub(crate) fn consumed(
    request: Option<&CapacityRequirements>,
    capacity: &BTreeMap<String, DeviceCapacity>,
    rules: CapacityRules<'_>,
) -> Result<Option<Amounts>, CapacityError> {
    let requested = |listed: &str| {
        let requests = &request?.requests;
        requests
            .get(listed)
            .or_else(|| requests.iter().find(|(name, _)| rules.same(name, listed)).map(|(_, value)| value))
    };
    let mut names = request.iter().flat_map(|request| request.requests.keys());
    if names.any(|name| !capacity.keys().any(|listed| rules.same(name, listed))) {
        return Ok(None);
    }
    let mut amounts = Amounts::new();
    for (name, device) in capacity {
        let amount = amount(requested(name), device, rules.fractional)
            .map_err(|detail| CapacityError::NotRepresentable { capacity: name.clone(), detail })?;
        if amount.sign() < 0 {
            return Err(CapacityError::Negative { capacity: name.clone() });
        }
        amounts.insert(name.clone(), amount);
    }
    Ok(Some(amounts))
}

/// Whether amounts satisfy the policies of the device and fit beside what is taken already.
pub(crate) fn fits(
    amounts: &Amounts,
    capacity: &BTreeMap<String, DeviceCapacity>,
    taken: &[&Amounts],
    rules: CapacityRules<'_>,
) -> bool {
    amounts.iter().zip(capacity.values()).all(|((name, amount), device)| {
        let mut already = taken.iter().filter_map(|taken| taken.get(name));
        // A sum too long to be computed exceeds whatever the device has.
        let total = already.try_fold(amount.clone(), |total, more| total.checked_add(more));
        !violates(amount, device.request_policy.as_deref(), rules.fractional)
            && total.is_ok_and(|total| total <= device.value)
    })
}

/// Why a requested capacity does not fit; what was asked for is given as written, and as the amount that it comes to, with the most that one
/// could ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CapacityFit {
    /// The device does not list it.
    Missing,
    /// The device has less.
    TooSmall { asked: (Option<String>, String), total: String, most: Option<String> },
    /// The policy of the device does not allow the amount.
    Refused { asked: (Option<String>, String), policy: String, most: Option<String> },
    /// Too little is left.
    Taken { asked: (Option<String>, String), left: String, total: String, most: Option<String> },
}

/// The first capacity of a request that does not fit beside what is taken already, with its name.
pub(crate) fn first_misfit(
    request: Option<&CapacityRequirements>,
    capacity: &BTreeMap<String, DeviceCapacity>,
    taken: Option<&Amounts>,
    rules: CapacityRules<'_>,
) -> Option<(String, CapacityFit)> {
    let requests = || request.iter().flat_map(|request| &request.requests);
    if let Some((name, _)) = requests().find(|(name, _)| !capacity.keys().any(|listed| rules.same(name, listed))) {
        return Some((name.clone(), CapacityFit::Missing));
    }
    let amounts = consumed(request, capacity, rules).ok()??;
    amounts.iter().zip(capacity.values()).find_map(|((name, amount), device)| {
        let requested = requests().find(|(other, _)| rules.same(other, name)).map(|(_, value)| value.to_string());
        let asked = (requested, amount.to_string());
        let policy = device.request_policy.as_deref();
        let left = taken.and_then(|taken| device.value.checked_sub(taken.get(name)?).ok());
        let total = device.value.to_string();
        let most = |limit: &Quantity| most(policy, limit).map(|most| most.to_string());
        let fit = match &left {
            _ if *amount > device.value => {
                CapacityFit::TooSmall { asked, total, most: most(left.as_ref().unwrap_or(&device.value)) }
            }
            _ if violates(amount, policy, rules.fractional) => CapacityFit::Refused {
                asked,
                policy: allowed(policy),
                most: most(left.as_ref().unwrap_or(&device.value)),
            },
            Some(left) if amount > left => {
                CapacityFit::Taken { asked, most: most(left), left: left.to_string(), total }
            }
            _ => return None,
        };
        Some((name.clone(), fit))
    })
}

/// The most that a policy allows within a limit.
fn most(policy: Option<&CapacityRequestPolicy>, limit: &Quantity) -> Option<Quantity> {
    let Some(policy) = policy else { return (limit.sign() > 0).then(|| limit.clone()) };
    let Some(range) = &policy.valid_range else {
        let values = policy.valid_values.iter().filter(|value| *value <= limit);
        return values.max().cloned();
    };
    let limit = range.max.as_ref().filter(|max| *max < limit).unwrap_or(limit);
    let min = range.min.clone().unwrap_or_default();
    let step = range.step.as_ref().map(Quantity::value).filter(|step| *step > 0);
    let Some(step) = step else { return (*limit >= min).then(|| limit.clone()) };
    let steps = limit.value().checked_sub(min.value())?.div_euclid(step);
    let most = min.value().checked_add(steps.checked_mul(step)?)?;
    (steps >= 0).then(|| Quantity::from_i64(most, limit.format()))
}

/// What a policy allows, in words.
fn allowed(policy: Option<&CapacityRequestPolicy>) -> String {
    let Some(policy) = policy else { return "any".to_owned() };
    let Some(range) = &policy.valid_range else {
        return policy.valid_values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    };
    let part = |word: &str, value: Option<&Quantity>| value.map(|value| format!("{word} {value}"));
    let parts =
        [part("from", range.min.as_ref()), part("to", range.max.as_ref()), part("in steps of", range.step.as_ref())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn amount(requested: Option<&Quantity>, capacity: &DeviceCapacity, fractional: bool) -> Result<Quantity, String> {
    let policy = capacity.request_policy.as_deref();
    let Some(requested) = requested else {
        return Ok(policy.and_then(|policy| policy.default.clone()).unwrap_or_else(|| capacity.value.clone()));
    };
    match policy {
        Some(CapacityRequestPolicy {
            valid_range: Some(range @ CapacityRequestPolicyRange { min: Some(min), .. }),
            ..
        }) => round_up(requested, min, range, fractional),
        Some(policy) => Ok(policy.valid_values.iter().find(|value| requested <= *value).unwrap_or(requested).clone()),
        None => Ok(requested.clone()),
    }
}

/// The next amount of a range. The largest one does not limit it: beyond that, the device does not fit.
fn round_up(
    requested: &Quantity,
    min: &Quantity,
    range: &CapacityRequestPolicyRange,
    fractional: bool,
) -> Result<Quantity, String> {
    if requested < min {
        return Ok(min.clone());
    }
    let Some(step) = &range.step else { return Ok(requested.clone()) };
    let format = step.format();
    if uses_milli(range, fractional) {
        let milli = lossless_milli(requested)
            .ok_or_else(|| format!("request {requested} is not a representable milli value"))?;
        let rounded = round_to_step(milli, min.milli_value(), step.milli_value())
            .ok_or_else(|| format!("rounding request {requested} up to the next step passes the milli-value range"))?;
        // Whole numbers are kept as such: they print without a suffix.
        return Ok(if rounded % 1000 == 0 {
            Quantity::from_i64(rounded / 1000, format)
        } else {
            Quantity::from_milli(rounded, format)
        });
    }
    if *requested > Quantity::from_i64(i64::MAX, format) {
        return Err(format!("request {requested} exceeds MaxInt64"));
    }
    round_to_step(requested.value(), min.value(), step.value())
        .map(|rounded| Quantity::from_i64(rounded, format))
        .ok_or_else(|| format!("rounding request {requested} up to the next step passes MaxInt64"))
}

/// `min` plus the fewest steps that reach `requested`; none when that passes 64 bits. A step of 0, which the API refuses, is no step.
fn round_to_step(requested: i64, min: i64, step: i64) -> Option<i64> {
    let (requested, min, step) = (i128::from(requested), i128::from(min), i128::from(step));
    if step == 0 {
        return i64::try_from(requested).ok();
    }
    let added = requested - min;
    let steps = added / step + i128::from(added % step != 0);
    i64::try_from(min + steps * step).ok()
}

fn violates(amount: &Quantity, policy: Option<&CapacityRequestPolicy>, fractional: bool) -> bool {
    let Some(policy) = policy else { return false };
    if policy.default.as_ref().is_some_and(|default| default.is_identical(amount)) {
        return false;
    }
    match &policy.valid_range {
        Some(range) => violates_range(amount, range, fractional),
        None => !policy.valid_values.is_empty() && !policy.valid_values.contains(amount),
    }
}

fn violates_range(amount: &Quantity, range: &CapacityRequestPolicyRange, fractional: bool) -> bool {
    if range.max.as_ref().is_some_and(|max| amount > max) {
        return true;
    }
    let Some(step) = &range.step else { return false };
    let zero = Quantity::default();
    let min = range.min.as_ref().unwrap_or(&zero);
    let (amount, min, step) = if uses_milli(range, fractional) {
        let Some(amount) = lossless_milli(amount) else { return true };
        (amount, min.milli_value(), step.milli_value())
    } else {
        (amount.value(), min.value(), step.value())
    };
    step != 0 && (i128::from(amount) - i128::from(min)) % i128::from(step) != 0
}

/// Whether a range is computed in thousandths: all its numbers must be whole thousandths, and the step at least one.
fn uses_milli(range: &CapacityRequestPolicyRange, fractional: bool) -> bool {
    fractional
        && [&range.min, &range.max].into_iter().flatten().all(|number| lossless_milli(number).is_some())
        && range.step.as_ref().is_none_or(|step| lossless_milli(step).is_some_and(|step| step >= 1))
}

fn lossless_milli(quantity: &Quantity) -> Option<i64> {
    let milli = quantity.milli_value();
    (Quantity::from_milli(milli, quantity.format()) == *quantity).then_some(milli)
}

#[cfg(test)]
mod tests {
    use super::round_to_step;

    #[test]
    fn request_is_rounded_to_the_next_step_counted_from_the_smallest_amount() {
        assert_eq!(round_to_step(5, 1, 3), Some(7));
        assert_eq!(round_to_step(4, 1, 3), Some(4));
        assert_eq!(round_to_step(i64::MAX, 2, 2), None);
        assert_eq!(round_to_step(7, 1, 0), Some(7));
    }
}
