//! Prints how many nanoseconds one evaluation takes: `evaluation EXPRESSION DRIVER DEVICE`, where the device is the JSON of one in a slice.
//!
//! The selector is compiled and the device converted beforehand, as in the kernel. The figure is the median of many batches.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use drayman_cel::{CelDevice, Environment, Selector};

/// Evaluations that are timed together: reading the clock takes about as long as one of them.
const BATCH: u32 = 1000;
const BATCHES: usize = 301;

fn main() -> Result<(), Box<dyn Error>> {
    let [_, expression, driver, device] = &std::env::args().collect::<Vec<_>>()[..] else {
        return Err("usage: evaluation EXPRESSION DRIVER DEVICE".into());
    };
    let selector = Selector::compile(expression, Environment::Stored)?;
    let device = CelDevice::new(driver, &serde_json::from_str(device)?);
    if !selector.matches(&device)? {
        return Err("the device does not match: only a part of the expression would be evaluated".into());
    }
    let mut batches = (0..BATCHES).map(|_| batch(&selector, &device)).collect::<Result<Vec<_>, _>>()?;
    batches.sort_by(f64::total_cmp);
    println!("{:.1}", batches[BATCHES / 2]);
    Ok(())
}

/// Nanoseconds of one evaluation.
fn batch(selector: &Selector, device: &CelDevice) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    for _ in 0..BATCH {
        black_box(black_box(selector).matches(black_box(device))?);
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH))
}
