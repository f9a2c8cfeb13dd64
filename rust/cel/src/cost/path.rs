//! By which way a part of the device is reached, as upstream's estimator notes it.
//!
//! There a path is a slice, and two paths that extend the same one share an array when it has room: the later extension replaces the earlier.
//! So a key of a loop with two variables is taken for the value, whose size may be another. The estimate shows that, hence it is kept here.

use std::sync::Arc;

use crate::cost::size::Place;

/// One step on the way.
#[derive(Debug, Clone)]
pub(super) enum Segment {
    /// A variable, or a field by its name.
    Name(Arc<str>),
    Keys,
    /// The values of a map, or the elements of a list.
    Values,
    /// The positions in a list.
    Indices,
}

/// The first segments of an array.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    array: usize,
    length: usize,
}

/// The arrays of all paths of an estimate.
#[derive(Debug, Default)]
pub(super) struct Paths {
    arrays: Vec<Array>,
}

#[derive(Debug)]
struct Array {
    segments: Vec<Segment>,
    /// How many segments there is room for.
    room: usize,
}

impl Paths {
    /// The path of a variable.
    pub(super) fn root(&mut self, name: Arc<str>) -> Path {
        self.extend(Path::default(), Segment::Name(name))
    }

    /// `path` and one more segment.
    pub(super) fn extend(&mut self, path: Path, segment: Segment) -> Path {
        let length = path.length + 1;
        let shared = self.arrays.get_mut(path.array).filter(|_| path.length > 0);
        match shared {
            Some(array) if length <= array.room => {
                match array.segments.get_mut(path.length) {
                    Some(replaced) => *replaced = segment,
                    None => array.segments.push(segment),
                }
                Path { array: path.array, length }
            }
            other => {
                let mut segments = other.map_or_else(Vec::new, |array| array.segments[..path.length].to_vec());
                segments.push(segment);
                // Arrays grow to double their size.
                let room = length.max(path.length * 2);
                self.arrays.push(Array { segments, room });
                Path { array: self.arrays.len() - 1, length }
            }
        }
    }

    /// The part of the device that a path leads to.
    pub(super) fn place(&self, path: Path) -> Option<Place> {
        let array = self.arrays.get(path.array)?;
        let (first, rest) = array.segments.get(..path.length)?.split_first()?;
        let root = matches!(first, Segment::Name(name) if name.as_ref() == "device").then_some(Place::Device)?;
        rest.iter().try_fold(root, |place, segment| match segment {
            Segment::Name(name) => place.field(name),
            Segment::Keys => place.keys(),
            Segment::Values => place.values(),
            Segment::Indices => place.field("@indices"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_extension_of_a_path_replaces_the_earlier_where_there_is_room() {
        let mut paths = Paths::default();
        let device = paths.root("device".into());
        let attributes = paths.extend(device, Segment::Name("attributes".into()));
        let (keys, values) = (paths.extend(attributes, Segment::Keys), paths.extend(attributes, Segment::Values));
        assert_eq!((paths.place(keys), paths.place(values)), (Some(Place::Domain), Some(Place::AttributesOfDomain)));
        let (keys, values) = (paths.extend(values, Segment::Keys), paths.extend(values, Segment::Values));
        assert_eq!((paths.place(keys), paths.place(values)), (Some(Place::Attribute), Some(Place::Attribute)));
    }

    #[test]
    fn paths_from_elsewhere_lead_nowhere() {
        let mut paths = Paths::default();
        let items = paths.extend(Path::default(), Segment::Values);
        assert_eq!((paths.place(items), paths.place(Path::default())), (None, None));
    }
}
