// Certificates for the webhook without anybody's help: made, kept in a Secret, renewed in time, and
// told to the API server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/certificates.hpp"
#include "kube/client.hpp"
#include "net/tls.hpp"

namespace plim::webhook {

enum class Rotate { when_due, serving, authority };  // the latter two at once

struct CertSettings {
  std::string ns = "kube-system";
  std::string service = "cpu-dev-pod-mutator-svc";
  std::string secret = "cpu-dev-webhook-secret";
  std::string lease = "plimsoll-webhook-certs";  // of the replica that renews
  std::vector<std::string> configurations = {"cpu-device-pod-mutator-webhook-config"};
  std::vector<json::value> manifests = {};  // configurations to make where they are missing
  Rotate rotate = Rotate::when_due;
  bool may_write = true;  // false: only say what is in the Secret
};

struct CertState {
  net::ServerTls serving;
  kube::Renewal done = kube::Renewal::none;  // what was made anew
  std::vector<std::string> told = {};        // configurations that were changed
  std::vector<std::string> missing = {};     // configurations that are not there
};

// Looks, makes what is due, stores it under cert.pem, key.pem, ca.pem and ca-key.pem, and puts the
// authority into caBundle of each webhook of ours. An authority is told before it is used, and the
// one before it stays behind it in ca.pem and in the bundle, so that no call fails while servers
// still have the old certificate. Several may do this at once: who comes second finds it done.
Task<Result<CertState>> ensure_certificates(std::shared_ptr<kube::Client> client,
                                            CertSettings settings, Clock& clock);

// The certificates of `bundle` with those of `authorities` before them, each once, without what has
// expired; at most four, since rotation never needs more.
std::string merged_bundle(const std::vector<std::string>& authorities, std::string_view bundle,
                          WallTime now);

}  // namespace plim::webhook
