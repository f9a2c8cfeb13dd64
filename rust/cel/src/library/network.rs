//! IP addresses and networks.

mod parse;

use std::net::IpAddr;

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload, boolean, operands, text};
use crate::types::Type;
use crate::value::{Cidr, Ip, Value};

pub(super) use parse::parse_address;

pub(super) fn functions() -> Vec<Function> {
    let s = || Type::String;
    let mut functions = vec![
        Function::new(
            "ip",
            vec![
                Overload::global("string_to_ip", [s()], Type::IP, Cost::Parse, |arguments| {
                    address_of(arguments).map(Value::Ip)
                }),
                Overload::member("cidr_ip", [Type::CIDR], Type::IP, Cost::One, |arguments| {
                    network(arguments).map(|network| Value::Ip(network.address()))
                }),
            ],
        ),
        Function::new(
            "isIP",
            vec![Overload::global("is_ip", [s()], Type::Bool, Cost::Parse, |arguments| {
                let [source] = operands::<1>(arguments)?;
                Ok(boolean(parse::ip(text(source)?).is_ok()))
            })],
        ),
        Function::new(
            "ip.isCanonical",
            vec![Overload::global("ip_is_canonical", [s()], Type::Bool, Cost::ParseTwice, |arguments| {
                let [source] = operands::<1>(arguments)?;
                Ok(boolean(address_of(arguments)?.to_string() == **text(source)?))
            })],
        ),
        Function::new(
            "family",
            vec![Overload::member("ip_family", [Type::IP], Type::Int, Cost::One, |arguments| {
                address(arguments).map(|address| Value::Int(if address.is_ipv4() { 4 } else { 6 }))
            })],
        ),
        question("isUnspecified", "ip_is_unspecified", |arguments| {
            address(arguments).map(|address| boolean(address.is_unspecified()))
        }),
        question("isLoopback", "ip_is_loopback", |arguments| {
            address(arguments).map(|address| boolean(address.is_loopback()))
        }),
        question("isLinkLocalMulticast", "ip_is_link_local_multicast", |arguments| {
            address(arguments).map(|address| boolean(is_link_local_multicast(address)))
        }),
        question("isLinkLocalUnicast", "ip_is_link_local_unicast", |arguments| {
            address(arguments).map(|address| boolean(is_link_local_unicast(address)))
        }),
        question("isGlobalUnicast", "ip_is_global_unicast", |arguments| {
            address(arguments).map(|address| boolean(is_global_unicast(address)))
        }),
    ];
    functions.extend(networks());
    functions
}

fn networks() -> Vec<Function> {
    let s = || Type::String;
    vec![
        Function::new(
            "cidr",
            vec![Overload::global("string_to_cidr", [s()], Type::CIDR, Cost::Parse, |arguments| {
                let [source] = operands::<1>(arguments)?;
                network_of(source).map(Value::Cidr)
            })],
        ),
        Function::new(
            "isCIDR",
            vec![Overload::global("is_cidr", [s()], Type::Bool, Cost::Parse, |arguments| {
                let [source] = operands::<1>(arguments)?;
                Ok(boolean(parse::cidr(text(source)?).is_ok()))
            })],
        ),
        Function::new(
            "containsIP",
            vec![
                Overload::member(
                    "cidr_contains_ip_string",
                    [Type::CIDR, s()],
                    Type::Bool,
                    Cost::ContainsIp { text: true },
                    contains_address,
                ),
                Overload::member(
                    "cidr_contains_ip_ip",
                    [Type::CIDR, Type::IP],
                    Type::Bool,
                    Cost::ContainsIp { text: false },
                    contains_address,
                ),
            ],
        ),
        Function::new(
            "containsCIDR",
            vec![
                Overload::member(
                    "cidr_contains_cidr_string",
                    [Type::CIDR, s()],
                    Type::Bool,
                    Cost::ContainsCidr { text: true },
                    contains_network,
                ),
                Overload::member(
                    "cidr_contains_cidr",
                    [Type::CIDR, Type::CIDR],
                    Type::Bool,
                    Cost::ContainsCidr { text: false },
                    contains_network,
                ),
            ],
        ),
        Function::new(
            "prefixLength",
            vec![Overload::member("cidr_prefix_length", [Type::CIDR], Type::Int, Cost::One, |arguments| {
                network(arguments).map(|network| Value::Int(network.length().into()))
            })],
        ),
        Function::new(
            "masked",
            vec![Overload::member("cidr_masked", [Type::CIDR], Type::CIDR, Cost::One, |arguments| {
                network(arguments).map(|network| Value::Cidr(network.masked()))
            })],
        ),
    ]
}

fn question(name: &'static str, id: &'static str, call: super::Implementation) -> Function {
    Function::new(name, vec![Overload::member(id, [Type::IP], Type::Bool, Cost::One, call)])
}

/// The address that a text is.
fn address_of(arguments: &[Value]) -> Result<Ip, Fault> {
    let [source] = operands::<1>(arguments)?;
    parse::ip(text(source)?).map_err(Fault::failed)
}

/// The network that a text is. Upstream says twice what failed.
fn network_of(source: &Value) -> Result<Cidr, Fault> {
    parse::cidr(text(source)?)
        .map_err(|cause| Fault::failed(format!("network address parse error during conversion from string: {cause}")))
}

fn address(arguments: &[Value]) -> Result<IpAddr, Fault> {
    match arguments {
        [Value::Ip(Ip(address))] => Ok(*address),
        _ => Err(Fault::no_such_overload()),
    }
}

fn network(arguments: &[Value]) -> Result<Cidr, Fault> {
    match arguments {
        [Value::Cidr(network)] => Ok(*network),
        _ => Err(Fault::no_such_overload()),
    }
}

/// Whether a network has an address. Upstream does not tell why a text is no address.
fn contains_address(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Cidr(network), Value::Ip(address)] => Ok(boolean(network.contains(*address))),
        [Value::Cidr(network), Value::String(source)] => {
            let address = parse::ip(source).map_err(|_| Fault::no_such_overload())?;
            Ok(boolean(network.contains(address)))
        }
        _ => Err(Fault::no_such_overload()),
    }
}

fn contains_network(arguments: &[Value]) -> Result<Value, Fault> {
    match arguments {
        [Value::Cidr(network), Value::Cidr(other)] => Ok(boolean(network.contains_network(*other))),
        [Value::Cidr(network), source] => Ok(boolean(network.contains_network(network_of(source)?))),
        _ => Err(Fault::no_such_overload()),
    }
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => matches!(address.octets(), [224, 0, 0, _]),
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !is_broadcast
        && !address.is_unspecified()
        && !address.is_loopback()
        && !address.is_multicast()
        && !is_link_local_unicast(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::function;

    fn value_of(name: &str, arguments: &[Value]) -> Result<Value, Fault> {
        function(name).expect("the function is known").dispatch(arguments)
    }

    fn call(name: &str, arguments: &[Value]) -> String {
        value_of(name, arguments).map_or_else(|fault| format!("error: {fault}"), |value| value.to_string())
    }

    fn read(name: &str, source: &str) -> Value {
        value_of(name, &[Value::string(source)]).expect("the text can be read")
    }

    #[test]
    fn addresses_know_what_they_are_for() {
        for (text, yes) in [
            ("0.0.0.0", vec!["isUnspecified"]),
            ("127.0.0.1", vec!["isLoopback"]),
            ("224.0.0.1", vec!["isLinkLocalMulticast"]),
            ("224.0.1.1", vec![]),
            ("169.254.1.1", vec!["isLinkLocalUnicast"]),
            ("255.255.255.255", vec![]),
            ("192.168.0.1", vec!["isGlobalUnicast"]),
            ("::", vec!["isUnspecified"]),
            ("::1", vec!["isLoopback"]),
            ("ff02::1", vec!["isLinkLocalMulticast"]),
            ("ff05::2", vec![]),
            ("fe80::1", vec!["isLinkLocalUnicast"]),
            ("fc00::1", vec!["isGlobalUnicast"]),
        ] {
            let address = read("ip", text);
            let questions =
                ["isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"];
            let found: Vec<&str> = questions
                .into_iter()
                .filter(|question| call(question, std::slice::from_ref(&address)) == "true")
                .collect();
            assert_eq!(found, yes, "{text}");
        }
    }

    #[test]
    fn networks_contain_what_shares_their_prefix() {
        let network = read("cidr", "10.1.2.3/8");
        for (name, other, expected) in [
            ("containsIP", "10.9.9.9", "true"),
            ("containsIP", "11.0.0.0", "false"),
            ("containsIP", "::1", "false"),
            ("containsCIDR", "10.0.0.0/8", "true"),
            ("containsCIDR", "10.0.0.0/7", "false"),
            ("containsCIDR", "10.0.0.0/16", "true"),
            ("containsCIDR", "::/16", "false"),
        ] {
            assert_eq!(call(name, &[network.clone(), Value::string(other)]), expected, "{name} {other}");
        }
        assert_eq!(call("masked", &[network]), "10.0.0.0/8");
    }

    #[test]
    fn only_a_network_that_cannot_be_read_is_explained() {
        let network = read("cidr", "10.1.2.3/8");
        assert_eq!(call("containsIP", &[network.clone(), Value::string("x")]), "error: no such overload");
        let twice = "network address parse error during conversion from string: ";
        assert_eq!(
            call("containsCIDR", &[network, Value::string("x")]),
            format!("error: {twice}{twice}netip.ParsePrefix(\"x\"): no '/'")
        );
    }

    #[test]
    fn an_address_is_canonical_when_it_is_written_so() {
        for (text, expected) in [("::1", "true"), ("::0", "false"), ("FE80::1", "false"), ("1.2.3.4", "true")] {
            assert_eq!(call("ip.isCanonical", &[Value::string(text)]), expected, "{text}");
        }
    }
}
