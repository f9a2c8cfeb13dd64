//! Names that are nearly the same.

/// How many characters must be put in, left out or replaced.
pub(super) fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, character) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for column in 0..other.len() {
            let replaced = diagonal + usize::from(character != other[column]);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// Of the attributes of a driver's device, that which is named most like another, whatever the domain.
pub(crate) fn attribute<'a>(wanted: &str, driver: &str, published: impl Iterator<Item = &'a String>) -> Option<String> {
    let identifier = |name: &str| name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let wanted = identifier(wanted);
    let most = wanted.chars().count() / 4;
    let near = published.map(|name| (edits(&identifier(name), &wanted), name)).filter(|(edits, _)| *edits <= most);
    let (_, name) = near.min()?;
    Some(if name.contains('/') { name.clone() } else { format!("{driver}/{name}") })
}

#[cfg(test)]
mod tests {
    use super::attribute;

    #[test]
    fn attribute_of_another_domain_with_nearly_the_same_name_is_found() {
        let published = ["model".to_owned(), "pciRoot".to_owned()];
        let found = attribute("resource.kubernetes.io/pcieRoot", "gpu.example.com", published.iter());
        assert_eq!(found.as_deref(), Some("gpu.example.com/pciRoot"));
    }

    #[test]
    fn attribute_with_another_name_is_not() {
        assert_eq!(attribute("gpu.example.com/numa", "gpu.example.com", ["uuid".to_owned()].iter()), None);
    }
}
