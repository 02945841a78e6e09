// The admission server: HTTPS, one path for each mutator, health and metrics beside them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/admission.hpp"
#include "net/server.hpp"
#include "net/tls.hpp"

namespace plim::webhook {

// What becomes of a review whose mutator fails by a fault of its own: 500, so that the
// configuration decides, or the object passes as it is, with a warning.
enum class OnFault { fail, allow };

struct MutatorRow {
  std::string path;  // "/mutating-pods"
  kube::Mutator mutate;
  OnFault on_fault = OnFault::fail;
};

struct ServerSettings {
  std::string listen = ":443";
  net::ServerTls certificate = {};
  std::vector<MutatorRow> mutators = {};
};

// Every request is answered: 200 with a review for what parses, 400 for what does not, 405, 413 and
// 415 for what is no such request. Belongs to one loop, on which the mutators are called too.
class AdmissionServer {
 public:
  static Result<std::unique_ptr<AdmissionServer>> listen(const Executor& loop,
                                                         ServerSettings settings,
                                                         metrics::Registry& registry, Clock& clock);
  ~AdmissionServer();
  AdmissionServer(const AdmissionServer&) = delete;
  AdmissionServer& operator=(const AdmissionServer&) = delete;

  std::string address() const;
  // For connections from now on; those that are open stay. A pair that does not fit is refused and
  // the old one stays.
  Result<void> set_certificate(const net::ServerTls& certificate);
  WallTime expires() const;  // the certificate
  Task<void> drain();

 private:
  struct Impl;
  explicit AdmissionServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plim::webhook
