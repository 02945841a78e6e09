// plimsoll-load: a load on any Kubernetes API server, ours or the real one, with the same client.
#include "load.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/process.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "sched_shapes.hpp"
#include "usage.hpp"

namespace plim::bench {
namespace {

constexpr std::string_view kUsage = R"(usage: plimsoll-load LOAD --kubeconfig FILE [flags]

loads:
  create   pods made over several connections: how many in a second
  list     all pods in one answer: the newest state, and any (resourceVersion=0)
  fanout   watchers and a steady rate of writes: time from write to event
  torture  informers that lose their connections while others write: their caches must be right
  jobs     pods that come, end, change and go among many that stay: four events each
  pending  nodes that are objects only, and pods that wait for a scheduler; both stay
  filled   the same with pods that have a node from the beginning
  arrive   more such pods, at a rate, in place of those before: time from sending each to seeing its node
  bound    waits until they have a node: the time from the first to the last
  bind     gives them a node, round robin: the most that any scheduler can do
  sim      simulated nodes and pods on them: time until ready, running, gone
  reviews  of a webhook (--url, no --kubeconfig): whole ones and ones cut up, all must be answered

flags:
  --connections N  that write at the same time (8)
  --pods N         made (3000; sim: 10000)
  --rounds N       of each list (20)
  --gzip           let lists be compressed
  --watchers N     (1000; torture: 50)
  --writes N       of torture (20000); reviews
  --url URL        of the webhook, https://HOST:PORT; its certificate is not verified
  --seed N         of the reviews
  --follow WHAT    each watcher sees the pods of its own node, or all pods: node, all (node)
  --rate N         writes per second (500)
  --ledger FILE    of jobs: "UID NANOSECONDS" for each, on the monotonic clock, right before its end was written
  --seconds N      of writing (10)
  --nodes N        (5000)
  --shape NAME     of pending pods: basic, node-affinity, pod-affinity, topology-spreading (basic)
  --bind           arrive without a scheduler: each pod is bound as soon as it is seen
  --limit SECONDS  to wait at most for anything (120)
  --pid P,P        the server's processes on this machine: tells their CPU time and memory
  --keep           leave the pods where they are
  -o json          the numbers for a program
)";

using Load = Task<Result<Numbers>> (*)(Executor, LoadOptions);

struct NamedLoad {
  std::string_view name;
  Load run;
  std::size_t pods;
  std::size_t watchers = 1'000;
};

constexpr NamedLoad kLoads[] = {{"create", load_create, 3'000},   {"list", load_list, 3'000},
                                {"fanout", load_fanout, 0},       {"torture", load_torture, 0, 50},
                                {"jobs", load_jobs, 5'000},       {"sim", load_sim, 10'000},
                                {"pending", load_pending, 3'000}, {"arrive", load_arrive, 1'000},
                                {"bound", load_bound, 3'000},     {"bind", load_bind, 3'000},
                                {"filled", load_filled, 50'000},  {"reviews", load_reviews, 0}};

struct Line {
  LoadOptions options = {};
  Load run = nullptr;
  bool json = false;
};

using Setter = std::function<Result<void>(std::string_view value)>;

template <class T>
Setter number(T& target) {
  return [&target](std::string_view value) -> Result<void> {
    PLIM_TRY(std::uint32_t parsed, parse_int<std::uint32_t>(value));
    if (parsed == 0) return fail(Code::invalid, "must be more than zero");
    target = static_cast<T>(parsed);
    return {};
  };
}

Setter choice(std::string& target, std::vector<std::string_view> allowed) {
  return [&target, allowed = std::move(allowed)](std::string_view value) -> Result<void> {
    for (std::string_view one : allowed)
      if (one == value) return target = value, Result<void>();
    return fail(Code::invalid, fmt::format("{} is unknown", quote(value)));
  };
}

struct Switch {
  std::string_view name;
  bool& target;
};

struct FlagRow {
  std::string_view name;
  Setter set;
};

std::vector<FlagRow> flag_table(LoadOptions& out, std::string& kubeconfig, std::string& output) {
  auto pids = [&out](std::string_view value) -> Result<void> {
    for (std::string_view part : split(value, ',')) {
      PLIM_TRY(pid_t pid, parse_int<pid_t>(part));
      out.pids.push_back(pid);
    }
    return {};
  };
  auto text = [](std::string& target) {
    return [&target](std::string_view value) { return target = value, Result<void>(); };
  };
  std::vector<std::string_view> shapes;
  for (const SchedShape& shape : kSchedShapes) shapes.push_back(shape.name);
  return {{"--kubeconfig", text(kubeconfig)},
          {"--ledger", text(out.ledger)},
          {"--url", text(out.url)},
          {"--seed", number(out.seed)},
          {"--connections", number(out.connections)},
          {"--pods", number(out.pods)},
          {"--rounds", number(out.rounds)},
          {"--watchers", number(out.watchers)},
          {"--writes", number(out.writes)},
          {"--follow", choice(out.follow, {"node", "all"})},
          {"--rate", number(out.rate)},
          {"--seconds", number(out.duration)},
          {"--nodes", number(out.nodes)},
          {"--limit", number(out.limit)},
          {"--shape", choice(out.shape, std::move(shapes))},
          {"--pid", pids},
          {"-o", choice(output, {"json", "table"})}};
}

Result<Line> parse(const std::vector<std::string_view>& words) {
  Line out;
  if (words.empty()) return fail(Code::invalid, "which load?");
  for (const NamedLoad& load : kLoads)
    if (load.name == words.front()) {
      out.run = load.run;
      out.options.pods = load.pods;
      out.options.watchers = load.watchers;
    }
  if (out.run == nullptr)
    return fail(Code::invalid, fmt::format("no load {}", quote(words.front())));
  std::string kubeconfig, output;
  const std::vector<FlagRow> flags = flag_table(out.options, kubeconfig, output);
  const Switch switches[] = {
      {"--gzip", out.options.gzip}, {"--keep", out.options.keep}, {"--bind", out.options.bind}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto set = std::ranges::find(switches, words[i], &Switch::name);
        set != std::end(switches)) {
      set->target = true;
      continue;
    }
    auto flag = std::ranges::find(flags, words[i], &FlagRow::name);
    if (flag == flags.end() || i + 1 == words.size())
      return fail(Code::invalid, fmt::format("flag {}: unknown, or without its value", words[i]));
    if (auto set = flag->set(words[++i]); !set) return set.error().with_context(flag->name);
  }
  out.json = output == "json";
  if ((out.run == load_reviews) == out.options.url.empty())
    return fail(Code::invalid, "--url is for reviews, and needed there");
  if (!out.options.url.empty()) return out;
  PLIM_TRY(out.options.cluster, kube::load_config({.kubeconfig = kubeconfig}));
  out.options.cluster.qps = 0;
  return out;
}

void print(const Numbers& numbers, bool as_json) {
  if (as_json) {
    json::object out;
    for (const auto& [name, value] : numbers) out[name] = value;
    fmt::print("{}\n", to_json(out));
    return;
  }
  Table table({{.header = "MEASURE"}, {.header = "VALUE"}});
  for (const auto& [name, value] : numbers) {
    const int digits = value == std::floor(value) || value >= 1000 ? 0 : value >= 10 ? 1 : 4;
    table.add({name, fmt::format("{:.{}f}", value, digits)});
  }
  fmt::print("{}", table.render({}));
}

Task<int> run(Executor loop, Line line) {
  Result<Numbers> numbers = co_await line.run(loop, line.options);
  if (!numbers) {
    fmt::print(stderr, "plimsoll-load: {}\n", numbers.error().message);
    co_return 1;
  }
  print(*numbers, line.json);
  co_return 0;
}

}  // namespace
}  // namespace plim::bench

int main(int argc, char** argv) {
  using namespace plim::bench;
  plim::prepare_process();
  plim::log::configure({.level = plim::log::Level::error});  // trouble is what some loads are about
  raise_descriptor_limit();
  auto line = parse({argv + 1, argv + argc});
  if (!line) {
    fmt::print(stderr, "plimsoll-load: {}\n\n{}", line.error().message, kUsage);
    return 2;
  }
  plim::Loop loop;
  return loop.run(run(loop.executor(), std::move(*line)));
}
