// The pieces of src/kube, each as a small program that tells on stdout what happens to it: one JSON
// object per line, with the time of the monotonic clock, which all processes of a machine share.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/signals.hpp"
#include "kube/client.hpp"
#include "kube/event_recorder.hpp"
#include "kube/informer.hpp"
#include "kube/leader_election.hpp"
#include "kube/selector.hpp"

namespace plim {
namespace {

constexpr const char* kUsage =
    "usage: kube_real_probe inform NAMESPACE                 follow its ConfigMaps\n"
    "       kube_real_probe lead NAMESPACE LEASE IDENTITY    contend for a lease of 3 s\n"
    "       kube_real_probe record NAMESPACE POD UID TIMES   write the same Event about a pod\n"
    "       kube_real_probe ask QPS BURST TIMES              get a namespace, all at once\n";

using Arguments = std::vector<std::string>;

void say(std::string_view what, json::object facts = {}) {
  facts["what"] = what;
  facts["at"] = std::chrono::duration<double>(system_clock().steady().time_since_epoch()).count();
  fmt::print("{}\n", to_json(facts));
  std::fflush(stdout);
}

int refuse(const Error& error) {
  fmt::print(stderr, "kube_real_probe: {}\n", error.message);
  return 1;
}

// --- informer ------------------------------------------------------------------------------------

class Following {
 public:
  Following(const Executor& loop, std::shared_ptr<kube::Client> client, std::string ns)
      : informer_(loop, std::move(client), kube::resources::config_maps, kube::meta_codec(pool_),
                  kube::ReflectorOptions{.ns = std::move(ns)}) {
    using Pointer = kube::Informer<kube::ObjectMeta>::Pointer;
    informer_.add_handlers(
        {.on_add = [this](const Pointer& now) { tell("add", *now); },
         .on_update = [this](const Pointer&, const Pointer& now) { tell("update", *now); },
         .on_delete = [this](const Pointer& last) { tell("delete", *last); },
         .on_synced = [] { say("synced"); }});
  }

  void start() { informer_.start(); }

  Task<void> stop() { return informer_.stop(); }

 private:
  void tell(std::string_view what, const kube::ObjectMeta& object) {
    auto value = kube::find_label(object.labels, "value");
    say(what, {{"name", object.name},
               {"value", value.value_or("")},
               {"version", object.resource_version},
               {"lists", informer_.stats().lists},
               {"watches", informer_.stats().watches}});
  }

  kube::InternPool pool_;
  kube::Informer<kube::ObjectMeta> informer_;
};

Task<int> inform(std::shared_ptr<kube::Client> client, Arguments words) {
  Executor loop = co_await current_loop();
  Signals signals(loop);
  Following following(loop, std::move(client), words[0]);
  following.start();
  co_await signals.stop_requested();
  co_await following.stop();
  co_return 0;
}

// --- leader election -----------------------------------------------------------------------------

Task<int> lead(std::shared_ptr<kube::Client> client, Arguments words) {
  using std::chrono::seconds;
  Executor loop = co_await current_loop();
  Signals signals(loop);
  kube::ElectionOptions options{.ns = words[0],
                                .name = words[1],
                                .identity = words[2],
                                .lease_duration = seconds(3),
                                .renew_deadline = seconds(2),
                                .retry_period = seconds(1)};
  kube::LeaderElector::Callbacks callbacks{
      .on_started = [] { say("started"); },
      .on_stopped = [] { say("stopped"); },
      .on_new_leader = [](const std::string& who) { say("leader", {{"identity", who}}); }};
  kube::LeaderElector elector(loop, std::move(client), std::move(options), std::move(callbacks));
  elector.start();
  co_await signals.stop_requested();
  co_await elector.stop();
  co_return 0;
}

// --- events --------------------------------------------------------------------------------------

Task<int> record(std::shared_ptr<kube::Client> client, Arguments words) {
  Executor loop = co_await current_loop();
  kube::EventRecorder recorder(loop, std::move(client),
                               kube::EventSource{.component = "plimsoll-probe"});
  recorder.start();
  kube::EventNote note{.about = {.api_version = "v1",
                                 .kind = "Pod",
                                 .ns = words[0],
                                 .name = words[1],
                                 .uid = words[2]},
                       .type = kube::EventNote::Type::warning,
                       .reason = "Listing",
                       .message = "the cargo has shifted"};
  auto times = static_cast<std::uint64_t>(std::atoi(words[3].c_str()));
  for (std::uint64_t i = 0; i < times; ++i) recorder.record(note);
  while (recorder.stats().written + recorder.stats().dropped < times)
    co_await system_clock().sleep(std::chrono::milliseconds(5));
  say("recorded", {{"written", recorder.stats().written}, {"dropped", recorder.stats().dropped}});
  co_await recorder.stop();
  co_return 0;
}

// --- rate limit ----------------------------------------------------------------------------------

class Asking {
 public:
  Asking(const Executor& loop, std::shared_ptr<kube::Client> client)
      : client_(std::move(client)), tasks_(loop) {}

  Task<void> ask(int times) {
    for (int i = 0; i < times; ++i) tasks_.spawn("ask", once());
    co_await tasks_.join();
    say("asked", {{"answered", answered_},
                  {"requests", client_->stats().requests},
                  {"throttled", client_->stats().throttled}});
  }

 private:
  Task<void> once() {
    kube::ObjectPath path{.ns = "", .name = "default"};
    auto got = co_await client_->get(kube::resources::namespaces, std::move(path));
    if (got) ++answered_;
  }

  std::shared_ptr<kube::Client> client_;
  int answered_ = 0;
  TaskGroup tasks_;
};

Task<int> ask(std::shared_ptr<kube::Client> client, Arguments words) {
  Executor loop = co_await current_loop();
  Asking asking(loop, std::move(client));
  say("asking");
  co_await asking.ask(std::atoi(words[2].c_str()));
  co_return 0;
}

// --- which ---------------------------------------------------------------------------------------

struct Verb {
  std::string_view name;
  std::size_t arguments;
  Task<int> (*run)(std::shared_ptr<kube::Client> client, Arguments words);
};

constexpr std::array kVerbs{Verb{"inform", 1, inform}, Verb{"lead", 3, lead},
                            Verb{"record", 4, record}, Verb{"ask", 3, ask}};

int run(Arguments words) {
  auto verb = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& one) {
    return !words.empty() && one.name == words[0] && one.arguments + 1 == words.size();
  });
  if (verb == kVerbs.end()) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  words.erase(words.begin());
  auto config = kube::load_config({});
  if (!config) return refuse(config.error());
  if (verb->name == "ask") {
    config->qps = std::atof(words[0].c_str());
    config->burst = std::atoi(words[1].c_str());
  }
  Loop loop;
  auto client = kube::Client::create(loop.executor(), std::move(*config));
  if (!client) return refuse(client.error());
  return loop.run(verb->run(std::move(*client), std::move(words)));
}

}  // namespace
}  // namespace plim

int main(int argc, char** argv) {
  return plim::run({argv + 1, argv + argc});
}
