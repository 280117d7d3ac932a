//! Sizes, bounds and runs, against what was worked out by hand or seen on MPICH 5.0.2.

#![allow(unsafe_code, reason = "it calls what is tested")]

use crate::{About, Basic, Class, Type, Wrong, pack, unpack};

fn ty(basic: Basic) -> Type {
    Type::basic(basic)
}

/// Size, lb, extent, true lb, true extent.
fn measures(ty: &Type) -> (i64, i64, i64, i64, i64) {
    (ty.size(), ty.lb(), ty.extent(), ty.true_lb(), ty.true_extent())
}

/// Where the runs of `count` items are, from their address, and their lengths.
fn runs(ty: &Type, count: i64) -> Vec<(i64, usize)> {
    let base = std::ptr::without_provenance::<u8>(0x1_0000);
    let found = ty.pieces(count, base, 100).expect("few");
    found.into_iter().map(|(at, length)| (at.addr() as i64 - 0x1_0000, length)).collect()
}

fn structure(members: &[(i64, i64, &Type)]) -> Type {
    let lengths: Vec<i64> = members.iter().map(|member| member.0).collect();
    let places: Vec<i64> = members.iter().map(|member| member.1).collect();
    let types: Vec<Type> = members.iter().map(|member| member.2.clone()).collect();
    Type::structure(&lengths, &places, &types).unwrap()
}

#[test]
fn basic_types_measure_as_in_c() {
    let all = Basic::ALL.iter();
    assert!(
        all.enumerate().all(|(place, basic)| *basic as usize == place && basic.name().starts_with("MPI"))
    );
    assert!(
        Type::same(&ty(Basic::Int), &ty(Basic::Int)) && !Type::same(&ty(Basic::Int), &ty(Basic::Integer))
    );
    assert_eq!(measures(&ty(Basic::Long)), (8, 0, 8, 0, 8));
    assert_eq!(measures(&ty(Basic::FloatInt)), (8, 0, 8, 0, 8));
    assert_eq!(measures(&ty(Basic::DoubleInt)), (12, 0, 16, 0, 12));
    assert_eq!(measures(&ty(Basic::LongInt)), (12, 0, 16, 0, 12));
    assert_eq!(measures(&ty(Basic::TwoInt)), (8, 0, 8, 0, 8));
    assert_eq!(measures(&ty(Basic::ShortInt)), (6, 0, 8, 0, 8));
    assert_eq!(measures(&ty(Basic::LongDoubleInt)), (20, 0, 32, 0, 20));
    assert_eq!(measures(&ty(Basic::TwoDoublePrecision)), (16, 0, 16, 0, 16));
    assert_eq!(runs(&ty(Basic::ShortInt), 2), [(0, 2), (4, 4 + 2), (12, 4)]);
    for basic in Basic::ALL.iter().filter(|basic| basic.class() == Class::Pair) {
        let (first, second, _) = basic.parts().unwrap();
        assert_eq!(basic.size(), first.size() + second.size(), "{basic:?}");
        assert_eq!(basic.external_size(), first.external_size() + second.external_size(), "{basic:?}");
        assert_eq!(basic.alignment(), first.alignment().max(second.alignment()), "{basic:?}");
    }
}

#[test]
fn pair_types_are_found() {
    let pair = |value, index| Type::value_index(value, index).and_then(|ty| ty.as_basic());
    assert_eq!(pair(Basic::Double, Basic::Int), Some(Basic::DoubleInt));
    assert_eq!(pair(Basic::Int, Basic::Int), Some(Basic::TwoInt));
    assert_eq!(pair(Basic::Real, Basic::Real), Some(Basic::TwoReal));
    assert_eq!(pair(Basic::Double, Basic::Long), None);
}

#[test]
fn vectors_and_blocks_have_standard_bounds() {
    let int = ty(Basic::Int);
    assert_eq!(measures(&Type::contiguous(0, &int).unwrap()), (0, 0, 0, 0, 0));
    assert_eq!(measures(&Type::vector(3, 2, 5, &int).unwrap()), (24, 0, 48, 0, 48));
    let backwards = Type::vector(3, 2, -5, &int).unwrap();
    assert_eq!(measures(&backwards), (24, -40, 48, -40, 48));
    assert_eq!(runs(&backwards, 1), [(0, 8), (-20, 8), (-40, 8)]);
    assert_eq!(measures(&Type::hvector(3, 2, -17, &int).unwrap()), (24, -34, 42, -34, 42));
    let indexed = Type::indexed(&[2, 0, 3], &[4, -10, -2], &int).unwrap();
    assert_eq!(measures(&indexed), (20, -8, 32, -8, 32));
    assert_eq!(runs(&indexed, 1), [(16, 8), (-8, 12)]);
    let indexed = Type::hindexed(&[2, 0, 3], &[40, -100, -20], &int).unwrap();
    assert_eq!(measures(&indexed), (20, -20, 68, -20, 68));
    assert_eq!(measures(&Type::indexed_block(2, &[4, -10, -2], &int).unwrap()), (24, -40, 64, -40, 64));
    let blocks = Type::hindexed_block(2, &[40, -100, -20], &int).unwrap();
    assert_eq!(measures(&blocks), (24, -100, 148, -100, 148));
    // Empty blocks move no bounds. (In MPICH those of a vector or of equal blocks do.)
    assert_eq!(measures(&Type::vector(3, 0, 5, &int).unwrap()), (0, 0, 0, 0, 0));
    assert_eq!(measures(&Type::indexed_block(0, &[4, -10], &int).unwrap()), (0, 0, 0, 0, 0));
}

#[test]
fn structs_alone_are_padded() {
    let (int, char, double) = (ty(Basic::Int), ty(Basic::Char), ty(Basic::Double));
    let padded = structure(&[(1, 0, &double), (1, 8, &char)]);
    assert_eq!(measures(&padded), (9, 0, 16, 0, 9));
    assert_eq!(runs(&padded, 2), [(0, 9), (16, 9)]);
    assert_eq!(measures(&Type::contiguous(2, &padded).unwrap()), (18, 0, 32, 0, 25));
    assert_eq!(measures(&structure(&[(1, 0, &char), (1, 8, &padded)])), (10, 0, 24, 0, 17));
    assert_eq!(measures(&structure(&[(1, 0, &padded), (1, 17, &char)])), (10, 0, 24, 0, 18));
    assert_eq!(measures(&structure(&[(1, 3, &int), (1, 8, &char)])), (5, 3, 8, 3, 6));
    assert_eq!(measures(&structure(&[(1, -3, &int), (1, 8, &char)])), (5, -3, 12, -3, 12));
    assert_eq!(measures(&structure(&[(0, 0, &double), (1, 8, &char)])), (1, 8, 1, 8, 1));
    assert_eq!(measures(&structure(&[(0, 0, &double), (0, 8, &char)])), (0, 0, 0, 0, 0));
    assert_eq!(measures(&structure(&[])), (0, 0, 0, 0, 0));
    for (basic, at, extent) in [
        (Basic::LongDouble, 16, 32),
        (Basic::ComplexDouble, 16, 24),
        (Basic::Complex, 8, 12),
        (Basic::ShortInt, 8, 12),
        (Basic::DoubleInt, 16, 24),
        (Basic::LongDoubleInt, 32, 48),
        (Basic::Packed, 1, 2),
        (Basic::Real2, 2, 4),
        (Basic::Complex32, 32, 48),
    ] {
        assert_eq!(structure(&[(1, 0, &ty(basic)), (1, at, &char)]).extent(), extent, "{basic:?}");
    }
    assert_eq!(Type::hindexed(&[1, 1], &[0, 5], &int).unwrap().extent(), 9);
}

/// The standard's rule of marks; MPICH 5.0.2 takes the wider of marks and data instead.
#[test]
fn explicit_bounds_override_data_bounds() {
    let (int, char, double) = (ty(Basic::Int), ty(Basic::Char), ty(Basic::Double));
    let wide = Type::resized(-4, 40, &structure(&[(1, 0, &double), (1, 8, &char)])).unwrap();
    assert_eq!(measures(&wide), (9, -4, 40, 0, 9));
    assert_eq!(measures(&Type::contiguous(2, &wide).unwrap()), (18, -4, 80, 0, 49));
    assert_eq!(measures(&Type::vector(2, 1, 3, &wide).unwrap()), (18, -4, 160, 0, 129));
    assert_eq!(measures(&structure(&[(1, 0, &wide), (1, 3, &char)])), (10, -4, 40, 0, 9));
    assert_eq!(measures(&structure(&[(1, 0, &wide), (1, 50, &char)])), (10, -4, 40, 0, 51));
    assert_eq!(measures(&Type::resized(2, -8, &int).unwrap()), (4, 2, -8, 0, 4));
    let row = Type::contiguous(4, &Type::resized(0, 8, &int).unwrap()).unwrap();
    assert_eq!((measures(&row), runs(&row, 1)), ((16, 0, 32, 0, 28), vec![(0, 4), (8, 4), (16, 4), (24, 4)]));
    let room = Type::resized(0, 24, &Type::contiguous(0, &int).unwrap()).unwrap();
    assert_eq!(measures(&Type::contiguous(3, &room).unwrap()), (0, 0, 72, 0, 0));
    let backwards = Type::resized(0, -4, &int).unwrap();
    assert_eq!(runs(&backwards, 3), [(0, 4), (-4, 4), (-8, 4)]);
}

#[test]
fn dense_types_are_detected() {
    let (int, short) = (ty(Basic::Int), ty(Basic::Short));
    assert!(int.is_dense() && ty(Basic::FloatInt).is_dense() && !ty(Basic::DoubleInt).is_dense());
    assert!(Type::contiguous(5, &int).unwrap().is_dense());
    assert!(Type::vector(3, 2, 2, &int).unwrap().is_dense());
    assert!(Type::vector(1, 2, 5, &int).unwrap().is_dense());
    assert!(Type::indexed(&[2, 3], &[1, 3], &int).unwrap().is_dense(), "though it begins at 4");
    assert!(!Type::indexed(&[2, 3], &[3, 0], &int).unwrap().is_dense(), "the order is another");
    assert!(structure(&[(1, 0, &int), (2, 4, &short)]).is_dense());
    assert!(!structure(&[(1, 0, &int), (1, 4, &short)]).is_dense());
    assert!(!Type::resized(0, 8, &int).unwrap().is_dense());
    assert!(Type::resized(0, 8, &Type::contiguous(2, &int).unwrap()).unwrap().is_dense());
}

#[test]
fn basic_kind_is_common_kind_of_all_elements() {
    let int = ty(Basic::Int);
    let vector = Type::vector(3, 2, 5, &ty(Basic::DoubleInt)).unwrap();
    assert_eq!(vector.basic_kind(), Some(Basic::DoubleInt));
    assert_eq!(vector.as_basic(), None);
    assert_eq!(structure(&[(1, 0, &int), (2, 8, &int)]).basic_kind(), Some(Basic::Int));
    assert_eq!(structure(&[(1, 0, &int), (1, 4, &ty(Basic::Unsigned))]).basic_kind(), None);
    assert_eq!(Type::contiguous(0, &int).unwrap().basic_kind(), None);
}

/// Displacements that are addresses, from an address of 0, in two objects.
#[test]
fn absolute_addresses_pack_two_objects() {
    let (number, text) = (Box::new(0x0102_0304_u32), Box::new(*b"parvum"));
    let addresses =
        [(&raw const *number).expose_provenance() as i64, (&raw const *text).expose_provenance() as i64];
    let both = Type::structure(&[1, 6], &addresses, &[ty(Basic::Unsigned), ty(Basic::Char)]).unwrap();
    let mut packed = [0; 10];
    // SAFETY: the addresses are those of the objects.
    assert_eq!(unsafe { pack(&both, 1, std::ptr::null(), 0, &mut packed) }, 10);
    assert_eq!(packed, [&0x0102_0304_u32.to_ne_bytes()[..], b"parvum"].concat()[..]);
    let pieces = both.pieces(1, std::ptr::null(), 2).unwrap();
    assert_eq!(pieces.iter().map(|(at, _)| at.addr() as i64).collect::<Vec<_>>(), addresses);

    let mut filled = Box::new([0_u8; 4]);
    let at = (&raw mut *filled).expose_provenance() as i64;
    let there = Type::hindexed(&[1], &[at], &ty(Basic::Int)).unwrap();
    // SAFETY: the address is the object's.
    assert_eq!(unsafe { unpack(&there, 1, std::ptr::null_mut(), 2, &[8, 9, 10]) }, 2);
    assert_eq!(*filled, [0, 0, 8, 9]);
}

#[test]
fn invalid_type_arguments_are_refused() {
    let int = ty(Basic::Int);
    let said = |made: Result<Type, Wrong>| {
        let wrong = made.unwrap_err();
        (wrong.about(), wrong.to_string())
    };
    let negative = |text: &str| (About::Count, format!("{text}, and must not be negative"));
    assert_eq!(said(Type::contiguous(-1, &int)), negative("count is -1"));
    assert_eq!(said(Type::vector(2, -3, 1, &int)), negative("blocklength is -3"));
    assert_eq!(said(Type::indexed(&[1, -2], &[0, 0], &int)), negative("blocklengths[1] is -2"));
    let uneven = Type::structure(&[1, 2], &[0, 8], std::slice::from_ref(&int));
    assert_eq!(
        said(uneven),
        (About::Argument, "blocklengths has 2 entries and types 1: they must have as many".into())
    );
    let large = |what: &str| (About::Argument, format!("{what} of the new type exceeds 64 bits"));
    assert_eq!(said(Type::contiguous(i64::MAX, &int)), large("the extent"));
    assert_eq!(said(Type::hvector(i64::MAX, 1, 0, &int)), large("the size"));
    assert_eq!(said(Type::vector(2, 1, i64::MAX, &int)), large("the extent"));
    assert_eq!(said(Type::resized(i64::MAX, 1, &int)), large("the extent"));
    assert_eq!(said(Type::hindexed(&[1, 1], &[i64::MIN, 0], &int)), large("the extent"));
    assert_eq!(said(Type::structure(&[1], &[i64::MAX - 4], std::slice::from_ref(&int))), large("the extent"));
}

#[test]
fn types_may_exceed_two_to_the_31_bytes() {
    let row = Type::contiguous(1 << 31, &ty(Basic::Double)).unwrap();
    assert_eq!(measures(&row), (1 << 34, 0, 1 << 34, 0, 1 << 34));
    assert_eq!(runs(&row, 3), [(0, 3 << 34)]);
    assert_eq!((row.count_in(3 << 34), row.elements_in((3 << 34) + 8)), (Some(3), Some((3 << 31) + 1)));
}

#[test]
fn types_are_shared_between_threads() {
    let column = Type::vector(1000, 1, 2, &ty(Basic::Double)).unwrap();
    let find = || column.pieces(1, std::ptr::null(), 1000).map(|runs| runs.len());
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..4).map(|_| scope.spawn(find)).collect();
        others.into_iter().for_each(|other| assert_eq!(other.join().expect("it ends"), Some(1000)));
    });
}
