#include "local/sim/simulator.hpp"

#include <utility>

#include "local/sim/simulation.hpp"

namespace plim::local::sim {

Simulator::Simulator(const Executor& loop, const std::shared_ptr<kube::Client>& client,
                     Clock& clock, SimulatorOptions options, Random& random)
    : impl_(std::make_unique<Simulation>(loop, client, clock, std::move(options), random)) {}

Simulator::~Simulator() = default;

Task<Result<void>> Simulator::start() {
  impl_->start();
  return impl_->make_nodes();
}

Task<void> Simulator::stop() {
  return impl_->stop();
}

const Simulator::Stats& Simulator::stats() const {
  return impl_->stats();
}

std::size_t Simulator::nodes() const {
  return impl_->nodes();
}

std::optional<node::NodeUsage> Simulator::usage(std::string_view node) const {
  return impl_->usage(node);
}

}  // namespace plim::local::sim
