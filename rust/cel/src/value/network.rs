//! IP addresses and networks, as Go's `net/netip` reads and writes them.

use std::fmt;
use std::net::IpAddr;

/// An IP address without zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ip(pub(crate) IpAddr);

impl Ip {
    /// The bytes of the address: 4 or 16.
    pub(crate) fn bytes(self) -> usize {
        if self.0.is_ipv4() { 4 } else { 16 }
    }

    /// The bits of the address in the highest places.
    fn bits(self) -> u128 {
        match self.0 {
            IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
            IpAddr::V6(address) => address.to_bits(),
        }
    }
}

impl fmt::Display for Ip {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// An IP network: an address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cidr {
    address: Ip,
    length: u8,
}

impl Cidr {
    pub(crate) fn new(address: Ip, length: u8) -> Self {
        Self { address, length }
    }

    /// The address that the network was written with.
    pub fn address(self) -> Ip {
        self.address
    }

    /// The bits of the prefix.
    pub fn length(self) -> u8 {
        self.length
    }

    /// Whether `address` is in the network; one of the other family never is.
    pub(crate) fn contains(self, address: Ip) -> bool {
        self.address.bytes() == address.bytes() && (self.address.bits() ^ address.bits()) & self.mask() == 0
    }

    /// Whether all of `other` is in the network.
    pub(crate) fn contains_network(self, other: Self) -> bool {
        self.length <= other.length && self.contains(other.address)
    }

    /// The network with the bits after the prefix cleared.
    pub(crate) fn masked(self) -> Self {
        let bits = self.address.bits() & self.mask();
        let address = match self.address.0 {
            IpAddr::V4(_) => IpAddr::V4(((bits >> 96) as u32).into()),
            IpAddr::V6(_) => IpAddr::V6(bits.into()),
        };
        Self { address: Ip(address), length: self.length }
    }

    fn mask(self) -> u128 {
        u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.length)
    }
}
