// The API requests of a simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "kube/types.hpp"
#include "local/sim/simulator.hpp"
#include "net/http.hpp"

namespace plim::local::sim {

kube::ObjectPath path_of(const kube::ObjectMeta& meta);

// Answers to writes are not parsed: they are not needed. Belongs to the simulation's loop.
class SimApi {
 public:
  SimApi(std::shared_ptr<kube::Client> client, Simulator::Stats& stats)
      : client_(std::move(client)), stats_(stats) {}

  // Reads the whole object, because a stage may use any field.
  Task<Result<json::value>> get(const kube::Resource& resource, const kube::ObjectMeta& meta);
  // True if the API server knows this kind.
  Task<bool> serves(kube::Resource resource);

  Task<Result<void>> create(const kube::Resource& resource, const kube::ObjectPath& path,
                            const json::value& object);
  Task<Result<void>> patch(const kube::Resource& resource, const kube::ObjectPath& path,
                           const json::value& patch);
  // Patches the subresource status and counts it in the statistics.
  Task<Result<void>> patch_status(const kube::Resource& resource, kube::ObjectPath path,
                                  const json::value& patch);
  Task<Result<void>> remove(const kube::Resource& resource, const kube::ObjectMeta& meta);

 private:
  // Increments `counter` if the request succeeds, unless it is null.
  Task<Result<void>> send(Result<net::Request> request, std::uint64_t* counter);

  std::shared_ptr<kube::Client> client_;
  Simulator::Stats& stats_;
};

}  // namespace plim::local::sim
