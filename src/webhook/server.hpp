// The admission server: HTTPS, one path for each mutator, plus health and metrics.
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

// How to answer a review whose mutator fails with a fault of its own: 500, so that the
// configuration's failurePolicy decides, or allow the object unchanged, with a warning.
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

// Answers every request: 200 with a review if it parses, 400 if it does not, 405, 413 and 415 for
// other requests. Belongs to one loop, on which the mutators are called too.
class AdmissionServer {
 public:
  static Result<std::unique_ptr<AdmissionServer>> listen(const Executor& loop,
                                                         ServerSettings settings,
                                                         metrics::Registry& registry, Clock& clock);
  ~AdmissionServer();
  AdmissionServer(const AdmissionServer&) = delete;
  AdmissionServer& operator=(const AdmissionServer&) = delete;

  std::string address() const;
  // For new connections; open ones stay. A pair that does not match is rejected and the old one
  // stays.
  Result<void> set_certificate(const net::ServerTls& certificate);
  WallTime expires() const;  // of the certificate
  Task<void> drain();

 private:
  struct Impl;
  explicit AdmissionServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plim::webhook
