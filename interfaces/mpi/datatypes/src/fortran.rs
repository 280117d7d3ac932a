//! Fortran's types by precision and range, as gfortran chooses their kinds.

use crate::facts::Facts;
use crate::recipe::{Combiner, Recipe, Words};
use crate::types::Map;
use crate::wrong::Wrong;
use crate::{Basic, Type};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// Digits, decimal exponents, and the types real and complex of that kind. Kind 10 has 16 bytes.
const REALS: [(i64, i64, Basic, Basic); 4] = [
    (6, 37, Basic::Real4, Basic::Complex8),
    (15, 307, Basic::Real8, Basic::Complex16),
    (18, 4931, Basic::LongDouble, Basic::ComplexLongDouble),
    (33, 4931, Basic::Real16, Basic::Complex32),
];

/// Digits, and the type.
const INTEGERS: [(i64, Basic); 5] = [
    (2, Basic::Integer1),
    (4, Basic::Integer2),
    (9, Basic::Integer4),
    (18, Basic::Integer8),
    (38, Basic::Integer16),
];

impl Type {
    /// The type of `real(selected_real_kind(precision, range))`. The same arguments give the same type.
    pub fn f90_real(precision: Option<i64>, range: Option<i64>) -> Result<Type, Wrong> {
        let (real, _) = kind("real", precision, range)?;
        Ok(kept(Combiner::F90Real, &[precision, range], real))
    }

    /// The type of `complex(selected_real_kind(precision, range))`. The same arguments give the same type.
    pub fn f90_complex(precision: Option<i64>, range: Option<i64>) -> Result<Type, Wrong> {
        let (_, complex) = kind("complex", precision, range)?;
        Ok(kept(Combiner::F90Complex, &[precision, range], complex))
    }

    /// The type of `integer(selected_int_kind(range))`. The same range gives the same type.
    pub fn f90_integer(range: i64) -> Result<Type, Wrong> {
        let fits = INTEGERS.into_iter().find(|(digits, _)| range <= *digits);
        let wrong = Wrong::NoKind { class: "integer", precision: Some(range), range: None };
        Ok(kept(Combiner::F90Integer, &[Some(range)], fits.ok_or(wrong)?.1))
    }
}

fn kind(class: &'static str, precision: Option<i64>, range: Option<i64>) -> Result<(Basic, Basic), Wrong> {
    let enough = |wanted: Option<i64>, has: i64| wanted.is_none_or(|wanted| wanted <= has);
    let fits = REALS.into_iter().find(|kind| enough(precision, kind.0) && enough(range, kind.1));
    let (_, _, real, complex) = fits.ok_or(Wrong::NoKind { class, precision, range })?;
    Ok((real, complex))
}

type Made = HashMap<(Combiner, Vec<i64>), Type>;

/// The type of these arguments, made when it is first asked for and kept: it counts as predefined.
fn kept(combiner: Combiner, arguments: &[Option<i64>], basic: Basic) -> Type {
    static MADE: LazyLock<Mutex<Made>> = LazyLock::new(Mutex::default);
    let arguments: Vec<i64> = arguments.iter().map(|value| value.unwrap_or(Words::OWN.undefined)).collect();
    let mut made = MADE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    made.entry((combiner, arguments.clone()))
        .or_insert_with(|| {
            let recipe = Recipe::new(combiner, arguments, Vec::new(), Vec::new());
            Type::new(Facts::basic(basic), Map::Same(Type::basic(basic)), recipe)
        })
        .clone()
}
