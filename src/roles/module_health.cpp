#include "roles/module_health.hpp"

#include <fmt/format.h>

#include "base/log.hpp"

namespace plim::roles {
namespace {

using namespace std::chrono_literals;

constexpr Backoff::Options kBetweenStarts{.first = 1s, .limit = 30s, .factor = 2, .jitter = 0.2};
constexpr Nanos kRanWell = 60s;

}  // namespace

ModuleHealth::ModuleHealth(std::string_view name, Clock& clock, Random& random,
                           metrics::Registry& registry)
    : name_(name),
      clock_(clock),
      up_(registry.gauge("plimsoll_agent_module_up", "1 when the module works",
                         {{"module", name_}})),
      restarts_(registry.counter("plimsoll_agent_module_restarts_total", "Starts after a failure",
                                 {{"module", name_}})),
      backoff_(kBetweenStarts, random) {
  up_.set(1);
}

void ModuleHealth::is_off() {
  up_.set(0);
}

void ModuleHealth::started() {
  if (failing()) restarts_.add();
  started_ = clock_.steady();
}

void ModuleHealth::works() {
  if (!failing()) return;
  log::info("agent", fmt::format("module {} works again", name_));
  problem_.clear();
  up_.set(1);
}

SteadyTime ModuleHealth::failed(const Failure& failure) {
  const SteadyTime now = clock_.steady();
  if (now - started_ >= kRanWell) backoff_.reset();
  if (problem_ != failure.what) {
    const std::string_view remedy =
        failure.next.empty() ? entry(failure.code).remedy : std::string_view(failure.next);
    log::error("agent", fmt::format("module {} is down; the agent restarts it", name_),
               {{"error", failure.what}, {"next", remedy}});
  }
  problem_ = failure.what;
  up_.set(0);
  return now + backoff_.next();
}

}  // namespace plim::roles
