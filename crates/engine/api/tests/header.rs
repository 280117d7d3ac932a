//! The C header agrees with the table.

use parvum_api::{
    Buffering, Came, Enrolled, Message, MpiCall, Notes, Outgoing, Pattern, Piece, Progress, Reading, Room,
    RoomKind, Scattered, Space, Status, Table, Wanted, call, segment,
};
use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::process::Command;

/// Offsets of the fields of a type, each with its place in the C type; and the size of both.
macro_rules! shape {
    ($checks:ident, $rust:ty, $c:literal, $($field:ident = $name:literal),+ $(,)?) => {
        $(writeln!($checks, "_Static_assert(offsetof(struct {}, {}) == {}, \"{}.{}\");",
            $c, $name, offset_of!($rust, $field), $c, $name).expect("a string");)+
        writeln!($checks, "_Static_assert(sizeof(struct {}) == {}, \"{}\");", $c, size_of::<$rust>(), $c)
            .expect("a string");
    };
}

#[test]
fn header_layout_equals_engine_layout() {
    let mut checks = String::from("#include <parvum.h>\n#include <parvum_engine.h>\n");
    shape!(
        checks,
        Pattern,
        "parvum_pattern",
        from = "from",
        tags = "tags",
        tag = "tag",
        other = "other",
        context = "context"
    );
    shape!(checks, Piece, "parvum_piece", start = "start", length = "length");
    shape!(
        checks,
        Reading,
        "parvum_reading",
        member = "member",
        from = "from",
        out = "out",
        length = "length"
    );
    shape!(
        checks,
        Outgoing,
        "parvum_outgoing",
        to = "to",
        tag = "tag",
        context = "context",
        meta = "meta",
        pieces = "pieces",
        count = "count",
        buffering = "buffering",
        completion = "completion",
        owner = "owner",
        release = "release"
    );
    shape!(
        checks,
        Message,
        "parvum_message",
        from = "from",
        tag = "tag",
        context = "context",
        meta = "meta",
        length = "length",
        handle = "handle",
        data = "data",
        inline = "inside"
    );
    shape!(checks, Wanted, "parvum_wanted", pattern = "pattern", start = "start", length = "length");
    shape!(checks, Came, "parvum_came", length = "length", tag = "tag", meta = "meta");
    shape!(checks, Room, "parvum_room", kind = "kind", start = "start", length = "length");
    shape!(
        checks,
        Scattered,
        "parvum_scattered",
        length = "length",
        copy = "copy",
        layout = "layout",
        release = "release"
    );
    shape!(checks, Space, "parvum_space", start = "start", length = "length");
    shape!(checks, Enrolled, "parvum_enrolled", tid = "tid", parent = "parent");
    shape!(
        checks,
        Notes,
        "parvum_notes",
        limit = "limit",
        call = "call",
        peer = "peer",
        tag = "tag",
        context = "context"
    );
    shape!(
        checks,
        MpiCall,
        "parvum_told",
        function = "function",
        context = "context",
        rank = "rank",
        size = "size",
        root = "root",
        turn = "turn",
        bytes = "bytes",
        name = "name"
    );
    shape!(checks, Progress, "parvum_progress", moved = "moved", lost = "lost");
    shape!(
        checks,
        Table,
        "parvum_table",
        version = "version",
        size = "size",
        enrol = "enrol",
        depart = "depart",
        send = "send",
        receive = "receive",
        post = "post",
        wait = "wait",
        wait_any = "wait_any",
        wait_some = "wait_some",
        wait_standing = "wait_standing",
        post_again = "post_again",
        cancel = "cancel",
        fetch_claims = "fetch_claims",
        next_completed = "next_completed",
        probe = "probe",
        extract = "extract",
        put_back = "put_back",
        find = "find",
        take = "take",
        give_back = "give_back",
        progress = "progress",
        inject = "inject",
        ask = "ask",
        prefer = "prefer",
        counters = "counters",
        last_error = "last_error",
        descriptors = "descriptors",
        read_remote = "read_remote",
        fetch_remote = "fetch_remote",
        await_arrival = "await_arrival",
        watch = "watch",
        start_machine = "start_machine",
        manager = "manager",
        tracer = "tracer",
        multicast = "multicast",
        looked = "looked",
        summon = "summon",
        serve = "serve",
        cells = "cells",
        is_free = "is_free",
        notify = "notify",
        service = "service",
        board_open = "board_open",
        board_read = "board_read",
        board_close = "board_close",
        receive_each = "receive_each",
        tell = "tell",
        oblige = "oblige",
        show_wait = "show_wait",
        board_reaches = "board_reaches",
        board_fetch = "board_fetch",
        send_scattered = "send_scattered",
        describe = "describe",
        board_exchange = "board_exchange",
        board_post = "board_post",
        pass_to_self = "pass_to_self"
    );
    for (name, number) in [
        ("STATUS_DONE", Status::Done as i64),
        ("STATUS_PENDING", Status::Pending as i64),
        ("STATUS_CANCELLED", Status::Cancelled as i64),
        ("STATUS_CUT", Status::Cut as i64),
        ("STATUS_UNKNOWN", Status::Unknown as i64),
        ("STATUS_GONE", Status::Gone as i64),
        ("STATUS_NO_MACHINE", Status::NoMachine as i64),
        ("STATUS_REFUSED", Status::Refused as i64),
        ("STATUS_BAD_ARGUMENT", Status::BadArgument as i64),
        ("STATUS_NO_MEMORY", Status::NoMemory as i64),
        ("BUFFER_BY_SIZE", Buffering::BySize as i64),
        ("BUFFER_NOBODY", Buffering::Never as i64),
        ("BUFFER_AT_SENDER", Buffering::AtSender as i64),
        ("BUFFER_AT_RECEIVER", Buffering::AtReceiver as i64),
        ("BUFFER_OR_DISCARD", Buffering::OrDiscard as i64),
        ("BUFFER_AT_SENDER_IF_UNPOSTED", Buffering::SenderIfUnposted as i64),
        ("ROOM_BLOCK", RoomKind::Block.0.into()),
        ("ROOM_MEMORY", RoomKind::Memory.0.into()),
        ("ROOM_PIECES", RoomKind::Pieces.0.into()),
        ("ROOM_LAZILY", RoomKind::Lazily.0.into()),
        ("ROOM_BY_REFERENCE", RoomKind::ByReference.0.into()),
        ("ROOM_FITTING", RoomKind::Fitting.0.into()),
        ("ROOM_SCATTERED", RoomKind::Scattered.0.into()),
        ("BOARD_LATE", segment::LATE),
        ("BOARD_COME", segment::COME),
        ("BOARD_CLOSED", segment::CLOSED),
        ("BOARD_DISAGREED", segment::DISAGREED),
        ("BOARD_MISSING", segment::MISSING),
        ("BOARD_ROOM", segment::ROOM as i64),
        ("BOARD_MEMBERS", segment::MEMBERS as i64),
        ("BOARD_ANNOUNCED", segment::ANNOUNCED as i64),
        ("BOARD_ANNOUNCEMENTS", segment::ANNOUNCEMENTS as i64),
        ("CALL_RECEIVE", call::RECEIVE.into()),
        ("CALL_EXIT", call::EXIT.into()),
        ("CALL_SERVE", call::SERVE.into()),
        ("CALL_JOIN", call::JOIN.into()),
        ("TABLE_VERSION", parvum_api::TABLE_VERSION.into()),
        ("ANY_TASK", parvum_api::ANY_TASK.into()),
    ] {
        writeln!(checks, "_Static_assert(PARVUM_{name} == {number}, \"{name}\");").expect("a string");
    }
    checks.push_str("_Static_assert(PARVUM_REMOTE == 1ull << 63, \"PARVUM_REMOTE\");\n");

    let folder = std::env::temp_dir().join(format!("parvum-header-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for a moment");
    let source = folder.join("checks.c");
    std::fs::write(&source, checks).expect("it can be written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let done = Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/include"))
        // A program may use both.
        .args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime/include")])
        .arg(&source)
        .output();
    let _ = std::fs::remove_dir_all(&folder);
    let done = done.expect("a C compiler runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
