//! Layouts: how few loops and runs the data of a type is.

use crate::data::layout::{Piece, Shape};
use crate::{Basic, Order, Type};

/// A layout in few words: `8` a run, `3x8/16` a loop with a stride, `{...}` places, `[...]` a list.
fn words(piece: &Piece) -> String {
    let at = if piece.at == 0 { String::new() } else { format!("{}:", piece.at) };
    let shape = match &piece.shape {
        Shape::Run => piece.size.to_string(),
        Shape::Loop { count, stride, body } => format!("{count}x({})/{stride}", words(body)),
        Shape::Places { length, at } => format!("{{{length} at {at:?}}}"),
        Shape::List(list) => {
            format!("[{}]", list.iter().map(|entry| words(&entry.piece)).collect::<Vec<_>>().join(" "))
        }
    };
    at + &shape
}

fn layout(ty: &Type) -> String {
    ty.commit();
    words(ty.layout())
}

fn double() -> Type {
    Type::basic(Basic::Double)
}

#[test]
fn adjacent_elements_form_one_run() {
    assert_eq!(layout(&Type::contiguous(1_000_000, &double()).unwrap()), "8000000");
    assert_eq!(layout(&Type::vector(1000, 5, 5, &double()).unwrap()), "40000");
    assert_eq!(layout(&Type::indexed(&[2, 1, 3], &[1, 3, 4], &double()).unwrap()), "8:48");
    let types = [double(), Type::basic(Basic::Int), Type::basic(Basic::Char)];
    let record = Type::structure(&[1, 1, 2], &[0, 8, 12], &types).unwrap();
    assert_eq!(layout(&record), "14");
    assert_eq!(layout(&Type::contiguous(10, &record).unwrap()), "10x(14)/16");
}

#[test]
fn vector_layout_is_one_loop() {
    let column = Type::vector(1_000_000, 1, 1000, &double()).unwrap();
    assert_eq!(layout(&column), "1000000x(8)/8000");
    assert_eq!(layout(&Type::dup(&column)), "1000000x(8)/8000");
    let even = Type::vector(1000, 1, 2, &double()).unwrap();
    let next = Type::resized(0, 16_000, &even).unwrap();
    assert_eq!(layout(&Type::contiguous(10, &next).unwrap()), "10000x(8)/16");
    assert_eq!(layout(&Type::vector(3, 1, -2, &double()).unwrap()), "3x(8)/-16");
}

#[test]
fn array_layout_is_nested_loops() {
    let cube = |subsizes: &[i64]| {
        layout(&Type::subarray(&[10, 10, 10], subsizes, &[1, 2, 3], Order::C, &double()).unwrap())
    };
    assert_eq!(cube(&[4, 5, 6]), "984:4x(5x(48)/80)/800");
    assert_eq!(cube(&[1, 5, 6]), "984:5x(48)/80");
    assert_eq!(cube(&[4, 5, 1]), "984:4x(5x(8)/80)/800");
    let whole = Type::subarray(&[10, 10], &[4, 10], &[1, 0], Order::C, &double()).unwrap();
    assert_eq!(layout(&whole), "80:320");
}

#[test]
fn displacements_at_even_distances_form_a_loop() {
    let at: Vec<i64> = (0..100_000).map(|index| 3 * index).collect();
    assert_eq!(layout(&Type::indexed_block(1, &at, &double()).unwrap()), "100000x(8)/24");
    let squares: Vec<i64> = (1..5).map(|index| index * index * 2).collect();
    assert_eq!(layout(&Type::indexed_block(1, &squares, &double()).unwrap()), "16:{8 at [0, 48, 128, 240]}");
    let two = Type::indexed(&[1, 1, 1, 2, 2, 2], &[0, 2, 4, 6, 9, 12], &double()).unwrap();
    assert_eq!(layout(&two), "[3x(8)/16 48:3x(16)/24]");
    let singles = Type::hvector(3, 1, 16, &Type::basic(Basic::Float)).unwrap();
    let doubles = Type::hvector(3, 1, 16, &double()).unwrap();
    let both = |at: i64, second: &Type| {
        layout(&Type::structure(&[1, 1], &[0, at], &[doubles.clone(), second.clone()]).unwrap())
    };
    assert_eq!(both(48, &doubles), "6x(8)/16");
    assert_eq!(both(48, &singles), "[3x(8)/16 48:3x(4)/16]");
    assert_eq!(both(56, &doubles), "2x(3x(8)/16)/56");
}

#[test]
fn nested_lists_flatten_to_one_list() {
    let types = [double(), Type::basic(Basic::Char)];
    let inner = Type::structure(&[1, 1], &[0, 12], &types).unwrap();
    assert_eq!(layout(&inner), "[8 12:1]");
    let outer = Type::structure(&[1, 1], &[16, 13], &[inner, Type::basic(Basic::Char)]).unwrap();
    assert_eq!(layout(&outer), "16:[8 12:1 -3:1]");
}
