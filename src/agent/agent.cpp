#include "agent/agent.hpp"

#include <fmt/format.h>

#include "agent/http_endpoint.hpp"
#include "base/log.hpp"

namespace plim::agent {
namespace {

constexpr std::chrono::milliseconds kDrain{500};

// Detectors and allocators that do nothing need nothing more than the measurement.
bool is_built_in(const AgentConfig& config) {
  return config.decider.empty() || config.decider == "NOPAnomalyDetector" ||
         config.decider == "NOPAllocator";
}

std::string not_ready(const MeasureRunner& measured, const OtherModules& others) {
  std::string out = measured.ready() ? "" : "measure: no iteration yet";
  const std::string more = others.not_ready ? others.not_ready() : "";
  return out.empty() || more.empty() ? out + more : out + "\n" + more;
}

json::value state_of(const MeasureRunner& measured, const OtherModules& others) {
  json::value out = measured.state();
  json::value more = others.state ? others.state() : json::object();
  for (auto& [module, state] : more.as_object()) out.as_object()[module] = std::move(state);
  return out;
}

}  // namespace

Agent::Agent(std::unique_ptr<MeasureRunner> runner) : runner_(std::move(runner)) {}

Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::make(Executor loop, Clock& clock, AgentConfig config,
                                           RunnerOptions options) {
  if (!is_built_in(config))
    return fail(Code::unimplemented,
                fmt::format("!{} cannot run yet: this version measures, it does not decide",
                            config.decider));
  const OtherModules others = options.others;
  PLIM_TRY(auto runner,
           MeasureRunner::make(loop, clock, std::move(config.measure), std::move(options)));
  std::unique_ptr<Agent> out(new Agent(std::move(runner)));
  const MeasureRunner* measured = out->runner_.get();
  for (const auto& scrape : measured->scrapes()) {
    EndpointSource source{.metrics = [scrape, others]() -> std::shared_ptr<const std::string> {
                            if (!others.metrics) return scrape->text;
                            return std::make_shared<const std::string>(
                                (scrape->text ? *scrape->text : "") + others.metrics());
                          },
                          .alive = [measured] { return measured->alive(); },
                          .not_ready = [measured, others] { return not_ready(*measured, others); },
                          .state = [measured, others] { return state_of(*measured, others); }};
    auto server = serve_endpoint(loop, scrape->listen, std::move(source));
    if (!server) return server.error();
    log::info("agent", "metrics at http://" + (*server)->address() + "/metrics");
    out->servers_.push_back(std::move(*server));
  }
  return out;
}

Task<void> Agent::stop() {
  co_await runner_->stop();
  for (auto& server : servers_) co_await server->drain(kDrain);
}

}  // namespace plim::agent
