// What the loads of plimsoll-load share: options, connections, pods to write, numbers to report.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"

namespace plim::bench {

struct LoadOptions {
  kube::Config cluster = {};
  std::size_t connections = 8;
  std::size_t pods = 3'000;
  std::size_t rounds = 20;       // of each list
  bool gzip = false;             // accept compressed answers, as Go's clients do
  std::size_t watchers = 1'000;  // fanout
  std::string follow = "node";   // what each of them follows: node, all
  double rate = 500;             // writes per second
  std::chrono::seconds duration{10};
  std::size_t writes = 20'000;  // torture
  std::size_t nodes = 5'000;    // sim
  std::chrono::seconds limit{120};
  std::vector<pid_t> pids = {};  // of the server, for its CPU time and memory
  bool keep = false;             // what was written stays
  std::string ledger = {};       // jobs: where to note when each of them ended
  std::string url = {};          // reviews: of the webhook, instead of a cluster
  unsigned seed = 20181116;      // reviews
  std::string shape = "basic";   // pending: of the pods
  bool bind = false;             // arrive: no scheduler runs, each pod is bound when it is seen
};

using Seconds = std::chrono::duration<double>;

// The numbers of a run in order; the names say the units.
using Numbers = std::vector<std::pair<std::string, double>>;

// 0.5 for the median. Sorts; 0 without samples.
double quantile(std::vector<double>& samples, double share);

// A client whose requests take turns on one connection, and as many of them as were asked for.
Result<std::vector<std::shared_ptr<kube::Client>>> connect(const Executor& loop,
                                                           const LoadOptions& options,
                                                           std::size_t count);

inline constexpr std::string_view kNamespace = "plimsoll-load";

struct PodNames {
  std::string name;
  std::string node = {};  // "": it is for the scheduler, by default for none of this cluster
  std::string scheduler = "nobody";
  json::object spec = {};  // what else is in its spec
};

// As a ReplicaSet's pod would be: about 2 KB once a server has filled it in.
std::string pod_text(const PodNames& names);
std::string pod_name(std::size_t index);
std::string node_name(std::size_t index);

// A request that must succeed; the answer's body.
Task<Result<std::string>> call(kube::Client& client, net::Request request);
net::Request json_request(std::string method, std::string path, std::string body);
net::Request binding_request(std::size_t pod, std::size_t nodes);  // to them in turn

Task<Result<void>> make_namespace(kube::Client& client);
// Deletes the pods without grace and waits until they are gone.
Task<Result<void>> remove_pods(kube::Client& client, std::chrono::seconds limit);

// Sends requests numbered 0 to count-1, each connection one at a time.
class Burst {
 public:
  using Make = std::function<net::Request(std::size_t index)>;

  Burst(const Executor& loop, std::vector<std::shared_ptr<kube::Client>> clients, Make make)
      : clients_(std::move(clients)), make_(std::move(make)), group_(loop) {}

  // The first failure ends it.
  Task<Result<void>> run(std::size_t count);
  // The same, but not more than `rate` in a second.
  Task<Result<void>> run_at(std::size_t count, double rate);

  Seconds took() const { return took_; }

  std::vector<double>& milliseconds() { return milliseconds_; }  // of each request

 private:
  Task<void> send_on(std::size_t connection);

  std::vector<std::shared_ptr<kube::Client>> clients_;
  Make make_;
  std::size_t count_ = 0, next_ = 0;
  double rate_ = 0;  // 0: as fast as it goes
  SteadyTime start_;
  Seconds took_{0};
  std::vector<double> milliseconds_;
  Result<void> outcome_;
  TaskGroup group_;
};

// Needs nothing but the pods made and deleted here.
Task<Result<Numbers>> load_create(Executor loop, LoadOptions options);
Task<Result<Numbers>> load_list(Executor loop, LoadOptions options);
Task<Result<Numbers>> load_fanout(Executor loop, LoadOptions options);
// Fails if a cache is wrong in the end.
Task<Result<Numbers>> load_torture(Executor loop, LoadOptions options);
// Makes simulated nodes, waits for them and for the pods it puts on them.
Task<Result<Numbers>> load_sim(Executor loop, LoadOptions options);

// For a scheduler that is to be measured: nodes, and pods that wait for it, or that have a node
// already; the time in which all get a node; and, for the same pods, the time in which they could.
Task<Result<Numbers>> load_pending(Executor loop, LoadOptions options);
Task<Result<Numbers>> load_filled(Executor loop, LoadOptions options);
// The pods only, at a rate; from sending each to seeing its node.
Task<Result<Numbers>> load_arrive(Executor loop, LoadOptions options);
Task<Result<Numbers>> load_bound(Executor loop, LoadOptions options);
Task<Result<Numbers>> load_bind(Executor loop, LoadOptions options);

// Among pods that stay, others that come, end, change and go.
Task<Result<Numbers>> load_jobs(Executor loop, LoadOptions options);

// Asks a webhook. Fails at the first review without an answer, or with one of status 5xx.
Task<Result<Numbers>> load_reviews(Executor loop, LoadOptions options);

// Of all given processes together.
Seconds cpu_of_all(const std::vector<pid_t>& pids);
double resident_megabytes(const std::vector<pid_t>& pids);

}  // namespace plim::bench
