// The classes of containers.hpp: `containers_classes server`, `containers_classes`.
#include <containers.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace choices;

#define CHECK(holds)                                                                          \
	do {                                                                                  \
		if (!(holds)) {                                                               \
			std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
			std::_Exit(1);                                                        \
		}                                                                             \
	} while (0)

template <typename Work> static int failure(Work work)
{
	try {
		work();
	} catch (const Error &error) {
		CHECK(std::strlen(error.what()) > 10);
		return error.number();
	}
	return 0;
}

static void server()
{
	MessageContainer inbox("c++ server");
	DistributedNameServer::bind(inbox);
	NetworkBufferFreeList pool(64, 1, false);
	void *buffer = pool.get();
	CHECK(buffer && !pool.get() && pool.free() == 0 && pool.grown() == 0);
	pool.put(buffer);
	ContainerGroup group("c++ group");
	group.add(inbox);
	char got[100];
	Sender from;
	CHECK(inbox.receive(got, sizeof got, &from) == 5 && !from.isCall());
	while (inbox.receive(got, sizeof got, &from) > 0) {
		CHECK(from.isCall());
		if (got[0] == 's')
			std::this_thread::sleep_for(Time(60));
		from.reply("answer", 7);
		if (got[0] == 'e')
			break;
	}
}

static void client()
{
	CHECK(!DistributedNameServer::lookup("nobody", Time(10)));
	auto to = DistributedNameServer::lookup("c++ server", Time(10000));
	CHECK(to && !to->isLocal() && !to->address().isLocal());
	to->send("plain", 5);
	char answer[10];
	CHECK(ReliableRPC::call(*to, "ask", 4, answer, sizeof answer) == 7);
	CHECK(failure([&] { ReliableRPC::call(*to, "ask", 4, answer, 3); }) == CH_EROOM);

	ClientState state;
	int asked = 0;
	state.setTimer(Time(10), [&](ClientState &now) {
		asked++;
		CHECK(now.expiries() == asked);
		return ClientState::waitOn;
	});
	// A moved state keeps its timer.
	ClientState moved = std::move(state);
	CHECK(ReliableRPC::call(*to, "slow", 5, answer, sizeof answer, moved) == 7 && asked > 0);
	moved.setTimer(Time(10));
	CHECK(failure([&] { ReliableRPC::call(*to, "slow", 5, answer, sizeof answer, moved); }) == CH_ETIMEDOUT);
	moved.setTimer(Time(10), [](ClientState &) -> ClientState::Decision { throw 7; });
	CHECK(failure([&] { ReliableRPC::call(*to, "slow", 5, answer, sizeof answer, moved); }) == CH_ETIMEDOUT);

	auto group = DistributedNameServer::lookupGroup("c++ group", 1, Time(10000));
	CHECK(group.size() == 1 && group.task(0) == to->address().task());
	int heard = 0;
	auto hear = [&](int place, const void *text, long length) {
		CHECK(place == 0 && length == 7 && std::strcmp(static_cast<const char *>(text), "answer") == 0);
		heard++;
		return true;
	};
	CHECK(MultiRPC::call(group, "many", 5, hear, 1) == 1 && heard == 1);
	bool thrown = false;
	try {
		MultiRPC::call(group, "many", 5, [](int, const void *, long) -> bool { throw 8; }, 1);
	} catch (int eight) {
		thrown = eight == 8;
	}
	CHECK(thrown);

	MessageContainer own;
	CHECK(failure([&] { DistributedNameServer::bind(own); }) == CH_EARGUMENT);
	DistributedNameServer::bind("c++ client", own);
	CHECK(failure([&] { DistributedNameServer::bind("c++ client", own); }) == CH_ENAMETAKEN);
	auto self = DistributedNameServer::lookup("c++ client", Time(0));
	CHECK(self && self->isLocal() && self->address() == own.address());
	CHECK(!own.receiveNoWait(answer, sizeof answer));
	CHECK(!own.receiveWithin(Time(5), answer, sizeof answer));
	OneWay::send(*self, "one", 4);
	CHECK(own.receiveNoWait(answer, sizeof answer) == 4);
	self->send("another", 8);
	Reference reference = own.receiveReference();
	CHECK(reference.length() == 8);
	reference.read(2, answer, 6);
	CHECK(std::strcmp(answer, "other") == 0);
	CHECK(failure([&] { reference.read(3, answer, 6); }) == CH_EARGUMENT);
	DistributedNameServer::unbind("c++ client");
	CHECK(failure([&] { GangScheduler::run("/no/such/program", {}, 2); }) == CH_EREFUSED);
	ReliableRPC::call(*to, "end", 4, answer, sizeof answer);
}

int main(int argc, char **)
{
	if (argc == 2)
		server();
	else
		client();
	std::printf("done\n");
}
