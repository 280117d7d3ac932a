//! Envelopes and contents: the constructor's arguments, as MPICH 5.0.2 gives them back.

use crate::{Basic, Combiner, Contents, Distribution, Envelope, Order, Type, Words};

fn int() -> Type {
    Type::basic(Basic::Int)
}

/// The arguments of both forms: integers, addresses, and with large counts integers, large counts. Types are compared apart.
fn check(
    made: Type,
    combiner: Combiner,
    small: (&[i64], &[i64]),
    large: Option<(&[i64], &[i64])>,
    types: &[Type],
) {
    let same = |ty: &Type, words: &Words, [integers, addresses, larges]: [&[i64]; 3]| {
        let wanted = Envelope {
            combiner,
            integers: integers.len(),
            addresses: addresses.len(),
            large: larges.len(),
            types: types.len(),
        };
        assert_eq!(ty.envelope(), wanted, "{ty:?}");
        let Contents { integers: i, addresses: a, large: l, types: t } = ty.contents_in(words);
        assert_eq!((&i[..], &a[..], &l[..]), (integers, addresses, larges), "{ty:?}");
        assert!(t.len() == types.len() && t.iter().zip(types).all(|(a, b)| Type::same(a, b)), "{ty:?}");
    };
    same(&made, &MPICH, [small.0, small.1, &[]]);
    let before = made.clone();
    let large_form = made.large();
    match large {
        Some((integers, larges)) => same(&large_form, &MPICH, [integers, &[], larges]),
        None => same(&large_form, &MPICH, [small.0, small.1, &[]]),
    }
    same(&before, &MPICH, [small.0, small.1, &[]]);
}

/// As in MPICH's header.
const MPICH: Words = Words {
    order_c: 56,
    order_fortran: 57,
    block: 121,
    cyclic: 122,
    none: 123,
    default: -49767,
    undefined: -32766,
};

#[test]
fn contents_return_constructor_arguments() {
    let of = [int()];
    check(int(), Combiner::Named, (&[], &[]), None, &[]);
    check(Type::dup(&int()), Combiner::Dup, (&[], &[]), None, &of);
    let made = Type::contiguous(3, &int()).unwrap();
    check(made, Combiner::Contiguous, (&[3], &[]), Some((&[], &[3])), &of);
    let made = Type::vector(3, 2, -5, &int()).unwrap();
    check(made, Combiner::Vector, (&[3, 2, -5], &[]), Some((&[], &[3, 2, -5])), &of);
    let made = Type::hvector(3, 2, -17, &int()).unwrap();
    check(made, Combiner::Hvector, (&[3, 2], &[-17]), Some((&[], &[3, 2, -17])), &of);
    let (lengths, places) = ([2, 0, 3], [4, -10, -2]);
    let flat: &[i64] = &[3, 2, 0, 3, 4, -10, -2];
    let made = Type::indexed(&lengths, &places, &int()).unwrap();
    check(made, Combiner::Indexed, (flat, &[]), Some((&[], flat)), &of);
    let made = Type::hindexed(&lengths, &places, &int()).unwrap();
    check(made, Combiner::Hindexed, (&[3, 2, 0, 3], &places), Some((&[], flat)), &of);
    let flat: &[i64] = &[3, 2, 4, -10, -2];
    let made = Type::indexed_block(2, &places, &int()).unwrap();
    check(made, Combiner::IndexedBlock, (flat, &[]), Some((&[], flat)), &of);
    let made = Type::hindexed_block(2, &places, &int()).unwrap();
    check(made, Combiner::HindexedBlock, (&[3, 2], &places), Some((&[], flat)), &of);
    let made = Type::resized(-4, 16, &int()).unwrap();
    check(made, Combiner::Resized, (&[], &[-4, 16]), Some((&[], &[-4, 16])), &of);
    let types = [int(), Type::contiguous(2, &int()).unwrap(), Type::basic(Basic::Double)];
    let flat: &[i64] = &[3, 2, 0, 3, 4, -10, -2];
    let made = Type::structure(&lengths, &places, &types).unwrap();
    check(made, Combiner::Struct, (&[3, 2, 0, 3], &places), Some((&[], flat)), &types);
    let made = Type::structure(&[], &[], &[]).unwrap();
    check(made, Combiner::Struct, (&[0], &[]), Some((&[], &[0])), &[]);
}

#[test]
fn contents_of_arrays_use_interface_constants() {
    let of = [int()];
    for (order, number) in [(Order::C, 56), (Order::Fortran, 57)] {
        let made = Type::subarray(&[4, 5], &[2, 3], &[1, 0], order, &int()).unwrap();
        let (small, large): (&[i64], &[i64]) = (&[2, 4, 5, 2, 3, 1, 0, number], &[4, 5, 2, 3, 1, 0]);
        check(made, Combiner::Subarray, (small, &[]), Some((&[2, number], large)), &of);

        let how = [Distribution::Block, Distribution::Cyclic, Distribution::None];
        let lengths = [None, Some(2), None];
        let made = Type::darray(6, 1, &[4, 5, 6], &how, &lengths, &[3, 2, 1], order, &int()).unwrap();
        let small = [6, 1, 3, 4, 5, 6, 121, 122, 123, -49767, 2, -49767, 3, 2, 1, number];
        let large = [6, 1, 3, 121, 122, 123, -49767, 2, -49767, 3, 2, 1, number];
        check(made, Combiner::Darray, (&small, &[]), Some((&large, &[4, 5, 6])), &of);
    }
}

#[test]
fn fortran_types_are_cached() {
    let real = Type::f90_real(Some(6), None).unwrap();
    check(real.clone(), Combiner::F90Real, (&[6, -32766], &[]), None, &[]);
    assert!(Type::same(&real, &Type::f90_real(Some(6), None).unwrap()));
    assert!(!Type::same(&real, &Type::f90_real(Some(6), Some(37)).unwrap()));
    check(
        Type::f90_complex(None, Some(300)).unwrap(),
        Combiner::F90Complex,
        (&[-32766, 300], &[]),
        None,
        &[],
    );
    check(Type::f90_integer(9).unwrap(), Combiner::F90Integer, (&[9], &[]), None, &[]);

    let kind = |digits, range| Type::f90_real(digits, range).unwrap().basic_kind().unwrap();
    assert_eq!(kind(Some(6), Some(37)), Basic::Real4);
    assert_eq!(kind(Some(7), Some(10)), Basic::Real8);
    assert_eq!(kind(None, Some(38)), Basic::Real8);
    assert_eq!(kind(Some(16), None), Basic::LongDouble);
    assert_eq!(kind(Some(33), Some(4931)), Basic::Real16);
    let sizes = [0, 2, 3, 4, 5, 9, 10, 18, 19, 38].map(|range| Type::f90_integer(range).unwrap().size());
    assert_eq!(sizes, [1, 1, 2, 2, 4, 4, 8, 8, 16, 16]);
    let said = |made: Result<Type, crate::Wrong>| made.unwrap_err().to_string();
    assert_eq!(
        said(Type::f90_real(Some(34), Some(1))),
        "Fortran has no real kind of 34 digits with exponents up to 1"
    );
    assert_eq!(said(Type::f90_integer(39)), "Fortran has no integer kind of 39 digits");
}

#[test]
fn inner_types_outlive_their_handles() {
    let outer = {
        let inner = Type::vector(2, 1, 2, &int()).unwrap();
        Type::contiguous(2, &inner).unwrap()
    };
    let inner = outer.contents().types.remove(0);
    drop(outer);
    assert_eq!(inner.contents().integers, [2, 1, 2]);
    assert_eq!((inner.size(), inner.extent()), (8, 12));
}
