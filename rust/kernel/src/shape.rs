//! The shape of a device for an expression: all that the expression reads of it.

use std::collections::BTreeMap;

use drayman_api::{Device, DeviceAttribute, Version};
use drayman_cel::{Access, Reads};
use smallvec::SmallVec;

/// Values as bytes: two are the same to every expression when their bytes are.
pub(crate) type ValueText = SmallVec<[u8; 32]>;

/// The shape of a device, such that an expression says the same of all devices of one shape. None where the device has to be looked at by
/// itself: an attribute without a readable value makes every expression fail, and a name that occurs twice is ambiguous.
pub(crate) fn shape(reads: &Reads, driver: &str, device: &Device) -> Option<ValueText> {
    if is_all_readable(device) { shape_of_readable(reads, driver, device) } else { None }
}

/// Whether every attribute of a device has a readable value.
pub(crate) fn is_all_readable(device: &Device) -> bool {
    device.attributes.values().all(is_readable)
}

/// As [`shape`], for a device that is known to have readable attributes only.
pub(crate) fn shape_of_readable(reads: &Reads, driver: &str, device: &Device) -> Option<ValueText> {
    let mut shape = Shape(ValueText::new());
    if reads.driver {
        shape.text(driver);
    }
    if reads.allow_multiple_allocations {
        shape.0.push(u8::from(device.allow_multiple_allocations == Some(true)));
    }
    shape.entries(&reads.attributes, driver, &device.attributes, Shape::attribute)?;
    shape.entries(&reads.capacity, driver, &device.capacity, |shape, capacity| {
        // Notation matters to nobody but an expression that prints it; equal texts are equal quantities in any case.
        shape.text(&capacity.value.to_string());
    })?;
    Some(shape.0)
}

/// The value of an attribute.
pub(crate) fn attribute_text(attribute: &DeviceAttribute) -> ValueText {
    let mut text = Shape(ValueText::new());
    text.attribute(attribute);
    text.0
}

/// Whether the value can be handed to expressions; else all of them fail on the device.
pub(crate) fn is_readable(attribute: &DeviceAttribute) -> bool {
    match attribute {
        DeviceAttribute::Unknown => false,
        DeviceAttribute::Version(version) => version.parse::<Version>().is_ok(),
        DeviceAttribute::Versions(versions) => versions.iter().all(|version| version.parse::<Version>().is_ok()),
        _ => true,
    }
}

/// A sequence of values, each of which says where it ends.
struct Shape(ValueText);

impl Shape {
    fn entries<T>(
        &mut self,
        access: &Access,
        driver: &str,
        entries: &BTreeMap<String, T>,
        write: impl Fn(&mut Self, &T),
    ) -> Option<()> {
        match access {
            Access::All => {
                self.text(driver);
                self.length(entries.len());
                for (name, value) in entries {
                    self.text(name);
                    write(self, value);
                }
            }
            Access::Names(names) => {
                for (domain, name) in names {
                    match find(entries, driver, domain, name)? {
                        Some(value) => write(self, value),
                        None => self.0.push(u8::MAX),
                    }
                }
            }
        }
        Some(())
    }

    fn attribute(&mut self, attribute: &DeviceAttribute) {
        match attribute {
            DeviceAttribute::Int(value) => self.int(0, *value),
            DeviceAttribute::Bool(value) => self.0.extend([1, u8::from(*value)]),
            DeviceAttribute::String(value) => self.tagged(2, std::slice::from_ref(value)),
            DeviceAttribute::Version(value) => self.tagged(3, std::slice::from_ref(value)),
            DeviceAttribute::Ints(values) => {
                self.0.push(4);
                self.length(values.len());
                for value in values {
                    self.int(0, *value);
                }
            }
            DeviceAttribute::Bools(values) => {
                self.0.push(5);
                self.length(values.len());
                self.0.extend(values.iter().map(|value| u8::from(*value)));
            }
            DeviceAttribute::Strings(values) => self.tagged(6, values),
            DeviceAttribute::Versions(values) => self.tagged(7, values),
            DeviceAttribute::Unknown => self.0.push(8),
        }
    }

    fn int(&mut self, tag: u8, value: i64) {
        self.0.push(tag);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn tagged(&mut self, tag: u8, values: &[String]) {
        self.0.push(tag);
        self.length(values.len());
        for value in values {
            self.text(value);
        }
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn length(&mut self, length: usize) {
        self.0.extend_from_slice(&length.to_le_bytes());
    }
}

/// The entry of a domain and name, if there is one; none at all where the device has it under two names.
#[expect(clippy::option_option, reason = "an absent entry is something else than an ambiguous one")]
fn find<'a, T>(entries: &'a BTreeMap<String, T>, driver: &str, domain: &str, name: &str) -> Option<Option<&'a T>> {
    let full = if domain.contains('/') { None } else { entries.get(&[domain, "/", name].concat()) };
    let bare = if domain == driver && !name.contains('/') { entries.get(name) } else { None };
    if full.is_some() && bare.is_some() { None } else { Some(full.or(bare)) }
}

#[cfg(test)]
mod tests {
    use drayman_api::{Device, DeviceAttribute};
    use drayman_cel::{Access, Reads};

    use super::shape;

    fn device(attributes: &[(&str, DeviceAttribute)]) -> Device {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Device { attributes: attributes.collect(), ..Device::default() }
    }

    fn reads_model() -> Reads {
        let model = ("gpu.example.com".to_owned(), "model".to_owned());
        Reads { attributes: Access::Names([model].into()), ..Reads::default() }
    }

    fn text(value: &str) -> DeviceAttribute {
        DeviceAttribute::String(value.to_owned())
    }

    #[test]
    fn devices_that_agree_on_what_is_read_have_one_shape() {
        let of = |device: &Device, driver: &str| shape(&reads_model(), driver, device);
        let bare = device(&[("model", text("x")), ("uuid", text("1"))]);
        let qualified = device(&[("gpu.example.com/model", text("x")), ("uuid", text("2"))]);
        let other = device(&[("model", text("y"))]);
        assert_eq!(of(&bare, "gpu.example.com"), of(&qualified, "nic.example.com"));
        assert_ne!(of(&bare, "gpu.example.com"), of(&other, "gpu.example.com"));
        assert_ne!(of(&bare, "gpu.example.com"), of(&bare, "nic.example.com"));
    }

    #[test]
    fn device_with_unreadable_or_ambiguous_attribute_has_no_shape() {
        let unreadable = device(&[("model", text("x")), ("firmware", DeviceAttribute::Version("1".to_owned()))]);
        let ambiguous = device(&[("model", text("x")), ("gpu.example.com/model", text("y"))]);
        assert_eq!(shape(&reads_model(), "gpu.example.com", &unreadable), None);
        assert_eq!(shape(&reads_model(), "gpu.example.com", &ambiguous), None);
    }
}
