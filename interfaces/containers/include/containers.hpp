/*
 * containers.hpp - message containers of the operating system Choices, for C++17.
 *
 * The classes of Choices, built on containers.h. Each object owns its handle and releases it. Objects can be moved, and not
 * copied. A failure throws a choices::Error, except for two usual cases: an empty container, and a name
 * that no task has bound.
 */
#ifndef CONTAINERS_HPP
#define CONTAINERS_HPP

#include "containers.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace choices {

using Time = std::chrono::milliseconds;

/* No time limit. */
inline constexpr Time forever{-1};

/* An error, with its number in containers.h. */
class Error : public std::runtime_error {
public:
	explicit Error(int number) : std::runtime_error(ch_error_text(number)), number_(number) {}
	int number() const { return number_; }

private:
	int number_;
};

namespace detail {

template <typename Number> Number checked(Number result)
{
	if (result < 0)
		throw Error(static_cast<int>(result));
	return result;
}

template <typename Handle> Handle *made(Handle *handle)
{
	if (!handle)
		throw Error(ch_error());
	return handle;
}

template <auto release> struct Release {
	template <typename Handle> void operator()(Handle *handle) const { release(handle); }
};

template <typename Handle, auto release> using Owned = std::unique_ptr<Handle, Release<release>>;

} // namespace detail

/* The place of a container. */
class Address {
public:
	Address(int task, int number) : task_(task), number_(number) {}
	int task() const { return task_; }
	int number() const { return number_; }
	bool isLocal() const { return task_ == ch_my_task(); }
	bool operator==(const Address &other) const { return task_ == other.task_ && number_ == other.number_; }

private:
	int task_, number_;
};

/* The sender of a message; a call can be answered. */
struct Sender : ch_sender {
	Sender() : ch_sender{} {}
	bool isCall() const { return call != 0; }
	void reply(const void *data, std::size_t size) const { detail::checked(ch_reply(this, data, size)); }
};

/* The client's side of a conversation: its protocol and its timer. */
class ClientState {
public:
	enum Protocol { reliable = CH_RELIABLE, datagram = CH_DATAGRAM };
	enum Decision { giveUp = CH_GIVE_UP, again = CH_AGAIN, waitOn = CH_WAIT_ON };
	using OnExpiry = std::function<Decision(ClientState &)>;

	explicit ClientState(Protocol protocol = reliable) : own_(std::make_unique<Own>())
	{
		own_->handle.reset(detail::made(ch_state_create(protocol)));
	}

	/* Zero removes the timer. Without a handler a call gives up. */
	void setTimer(Time time, OnExpiry onExpiry = nullptr)
	{
		own_->onExpiry = std::move(onExpiry);
		detail::checked(ch_state_set_data(own_->handle.get(), this));
		detail::checked(ch_set_timer(own_->handle.get(), static_cast<long>(time.count()), &ClientState::expired));
	}

	int expiries() const { return detail::checked(ch_state_expiries(own_->handle.get())); }
	int repeats() const { return detail::checked(ch_state_repeats(own_->handle.get())); }
	int dropped() const { return detail::checked(ch_state_dropped(own_->handle.get())); }

	/* The argument of the calls below; the handler needs this object at its present address. */
	ch_state *handle()
	{
		ch_state_set_data(own_->handle.get(), this);
		return own_->handle.get();
	}

private:
	struct Own {
		detail::Owned<ch_state, ch_state_destroy> handle;
		OnExpiry onExpiry;
	};

	/* C must not see an exception: a handler that throws gives up. */
	static int expired(ch_state *state)
	{
		auto &self = *static_cast<ClientState *>(ch_state_data(state));
		if (!self.own_->onExpiry)
			return giveUp;
		try {
			/* A copy: the handler may set another handler. */
			auto handler = self.own_->onExpiry;
			return handler(self);
		} catch (...) {
			return giveUp;
		}
	}

	std::unique_ptr<Own> own_;
};

/* A received message that is read in place. */
class Reference {
public:
	explicit Reference(ch_reference *handle) : handle_(detail::made(handle)) {}
	std::size_t length() const { return static_cast<std::size_t>(detail::checked(ch_reference_length(handle_.get()))); }
	bool isWithSender() const { return detail::checked(ch_reference_is_with_sender(handle_.get())) != 0; }
	void read(std::size_t from, void *out, std::size_t size) const
	{
		detail::checked(ch_reference_read(handle_.get(), from, out, size));
	}

private:
	detail::Owned<ch_reference, ch_reference_release> handle_;
};

/* A named mailbox, which buffers messages until they are received. */
class MessageContainer {
public:
	explicit MessageContainer(const char *name = nullptr, std::size_t mostBytes = 0, int mostMessages = 0)
		: handle_(detail::made(ch_container_create(name, mostBytes, mostMessages)))
	{
	}

	/* The messages with a tag in context 0, from any interface. */
	static MessageContainer ofTag(int tag) { return MessageContainer(detail::made(ch_container_for_tag(tag))); }

	Address address() const { return Address(ch_my_task(), ch_container_number(handle_.get())); }

	/* Waits. If the message is longer than the buffer, the call throws and the message stays; the sender's length is its length. */
	long receive(void *out, std::size_t room, Sender *from = nullptr)
	{
		return detail::checked(ch_receive(handle_.get(), out, room, from));
	}

	/* Returns nothing if the container is empty. */
	std::optional<long> receiveNoWait(void *out, std::size_t room, Sender *from = nullptr)
	{
		return perhaps(ch_try_receive(handle_.get(), out, room, from));
	}

	/* Returns nothing if no message came in time. */
	std::optional<long> receiveWithin(Time time, void *out, std::size_t room, Sender *from = nullptr)
	{
		return perhaps(ch_receive_within(handle_.get(), out, room, from, static_cast<long>(time.count())));
	}

	Reference receiveReference(Time time = forever, Sender *from = nullptr)
	{
		return Reference(ch_receive_reference(handle_.get(), static_cast<long>(time.count()), from));
	}

	const ch_container *handle() const { return handle_.get(); }

private:
	explicit MessageContainer(ch_container *handle) : handle_(handle) {}

	static std::optional<long> perhaps(long result)
	{
		if (result == CH_EEMPTY)
			return std::nullopt;
		return detail::checked(result);
	}

	detail::Owned<ch_container, ch_container_destroy> handle_;
};

/* A sender's local handle of a container. */
class ContainerRepresentative {
public:
	explicit ContainerRepresentative(ch_representative *handle) : handle_(detail::made(handle)) {}

	/* The messages that a task receives with a tag in context 0. */
	static ContainerRepresentative ofTag(int task, int tag)
	{
		return ContainerRepresentative(ch_representative_for_tag(task, tag));
	}

	void send(const void *data, std::size_t size) { detail::checked(ch_send(handle_.get(), data, size, nullptr)); }
	void send(const void *data, std::size_t size, ClientState &state)
	{
		detail::checked(ch_send(handle_.get(), data, size, state.handle()));
	}
	void sendReference(const void *data, std::size_t size)
	{
		detail::checked(ch_send_reference(handle_.get(), data, size));
	}

	Address address() const { return Address(ch_task(handle_.get()), ch_number(handle_.get())); }
	bool isLocal() const { return ch_is_local(handle_.get()) == 1; }

	const ch_representative *handle() const { return handle_.get(); }
	ch_representative *giveUp() { return handle_.release(); }

private:
	detail::Owned<ch_representative, ch_release> handle_;
};

class GroupRepresentative;

/* The name service. */
class DistributedNameServer {
public:
	static void bind(const char *name, const MessageContainer &container)
	{
		detail::checked(ch_bind(name, container.handle()));
	}
	static void bind(const MessageContainer &container) { bind(nullptr, container); }
	static void unbind(const char *name) { detail::checked(ch_unbind(name)); }

	/* Returns nothing if no task binds the name in time. */
	static std::optional<ContainerRepresentative> lookup(const char *name, Time time = forever)
	{
		auto *found = ch_lookup(name, static_cast<long>(time.count()));
		if (!found && ch_error() == CH_EUNBOUND)
			return std::nullopt;
		return ContainerRepresentative(found);
	}
	static GroupRepresentative lookupGroup(const char *name, int least = 1, Time time = forever);

	/* The number of requests of this process. */
	static std::uint64_t exchanges() { return ch_exchanges(); }
};

/* Containers, of this task and others, that get the same messages. */
class ContainerGroup {
public:
	explicit ContainerGroup(const char *name) : handle_(detail::made(ch_group_create(name))) {}
	void add(const MessageContainer &container) { detail::checked(ch_group_add(handle_.get(), container.handle())); }
	void remove(const MessageContainer &container)
	{
		detail::checked(ch_group_remove(handle_.get(), container.handle()));
	}

private:
	detail::Owned<ch_group, ch_group_release> handle_;
};

/* The members of a group at its lookup. */
class GroupRepresentative {
public:
	explicit GroupRepresentative(ch_many *handle) : handle_(detail::made(handle)) {}
	explicit GroupRepresentative(std::vector<ContainerRepresentative> members)
	{
		std::vector<ch_representative *> handles;
		for (auto &member : members)
			handles.push_back(member.giveUp());
		handle_.reset(detail::made(ch_many_create(handles.data(), static_cast<int>(handles.size()))));
	}

	int size() const { return detail::checked(ch_many_size(handle_.get())); }
	int task(int place) const { return detail::checked(ch_many_task(handle_.get(), place)); }

	/* Returns the number of receivers. */
	int send(const void *data, std::size_t size) { return detail::checked(ch_send_many(handle_.get(), data, size)); }

	const ch_many *handle() const { return handle_.get(); }

private:
	detail::Owned<ch_many, ch_many_release> handle_;
};

inline GroupRepresentative DistributedNameServer::lookupGroup(const char *name, int least, Time time)
{
	return GroupRepresentative(ch_lookup_group(name, least, static_cast<long>(time.count())));
}

/* A message without an answer, which may be lost. */
class OneWay {
public:
	static void send(const ContainerRepresentative &to, const void *data, std::size_t size)
	{
		detail::checked(ch_oneway(to.handle(), data, size, nullptr));
	}
	static void send(const ContainerRepresentative &to, const void *data, std::size_t size, ClientState &state)
	{
		detail::checked(ch_oneway(to.handle(), data, size, state.handle()));
	}
};

/* A request and its answer; the request runs at most once. */
class ReliableRPC {
public:
	static long call(const ContainerRepresentative &server, const void *request, std::size_t size, void *answer,
			 std::size_t room)
	{
		return detail::checked(ch_rpc(server.handle(), request, size, answer, room, nullptr));
	}
	static long call(const ContainerRepresentative &server, const void *request, std::size_t size, void *answer,
			 std::size_t room, ClientState &state)
	{
		return detail::checked(ch_rpc(server.handle(), request, size, answer, room, state.handle()));
	}
};

/* One request to several servers. */
class MultiRPC {
public:
	/* The member's index; its answer, or null; the length, or an error number. False ends the call. */
	using Hear = std::function<bool(int place, const void *answer, long length)>;

	/* Returns the number of answers. An exception of the handler ends the call and is rethrown. */
	static int call(const GroupRepresentative &servers, const void *request, std::size_t size, const Hear &hear,
			int want, ClientState *state = nullptr)
	{
		Own own{hear, nullptr};
		int answered = ch_multirpc(servers.handle(), request, size, &MultiRPC::heard, &own, want,
					   state ? state->handle() : nullptr);
		if (own.thrown)
			std::rethrow_exception(own.thrown);
		return detail::checked(answered);
	}

private:
	struct Own {
		const Hear &hear;
		std::exception_ptr thrown;
	};

	static int heard(int place, const void *answer, long length, void *own)
	{
		auto &self = *static_cast<Own *>(own);
		try {
			return self.hear(place, answer, length);
		} catch (...) {
			self.thrown = std::current_exception();
			return 0;
		}
	}
};

/* Buffers of one size: a number at the start, and more if the list may grow. */
class NetworkBufferFreeList {
public:
	NetworkBufferFreeList(std::size_t size, int number, bool mayGrow)
		: handle_(detail::made(ch_pool_create(size, number, mayGrow)))
	{
	}

	/* Null if all are in use, and the list or this caller does not allow growth. */
	void *get(bool mayGrow = true)
	{
		void *buffer = ch_buffer_get(handle_.get(), mayGrow);
		if (!buffer && ch_error() != CH_EBUFFER)
			throw Error(ch_error());
		return buffer;
	}
	void put(void *buffer) { detail::checked(ch_buffer_put(handle_.get(), buffer)); }
	int free() const { return detail::checked(ch_pool_free(handle_.get())); }
	int grown() const { return detail::checked(ch_pool_grown(handle_.get())); }

private:
	detail::Owned<ch_pool, ch_pool_destroy> handle_;
};

/* Starts programs with gang scheduling on idle processors. */
class GangScheduler {
public:
	/* Returns the ids of the tasks. */
	static std::vector<int> run(const char *program, const std::vector<const char *> &args, int number)
	{
		auto list = args;
		list.push_back(nullptr);
		std::vector<int> tasks(number > 0 ? static_cast<std::size_t>(number) : 0);
		detail::checked(ch_gang_run(program, list.data(), number, tasks.data()));
		return tasks;
	}
};

} // namespace choices

#endif
