// Manages the webhook's certificates: creates them, keeps them in a Secret, renews them in time,
// and writes the authority to the webhook configuration.
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
  std::string lease = "plimsoll-webhook-certs";  // for the replica that renews
  std::vector<std::string> configurations = {"cpu-device-pod-mutator-webhook-config"};
  std::vector<json::value> manifests = {};  // configurations to create if they are missing
  Rotate rotate = Rotate::when_due;
  bool may_write = true;  // false: only report what is in the Secret
};

struct CertState {
  net::ServerTls serving;
  kube::Renewal done = kube::Renewal::none;  // what was renewed
  std::vector<std::string> told = {};        // configurations that were changed
  std::vector<std::string> missing = {};     // configurations that do not exist
};

// Reads the Secret, or creates it; renews what is due, stores it as cert.pem, key.pem, ca.pem and
// ca-key.pem, and writes the authority to caBundle of each of our webhooks. A new authority is
// published before it is used, and the previous one stays after it in ca.pem and in the bundle, so
// that no call fails while servers still have the old certificate. Several replicas may run this at
// once: the second one has nothing to do.
Task<Result<CertState>> ensure_certificates(std::shared_ptr<kube::Client> client,
                                            CertSettings settings, Clock& clock);

// The certificates of `authorities` followed by those of `bundle`, each once, without expired ones;
// at most four, since a rotation never needs more.
std::string merged_bundle(const std::vector<std::string>& authorities, std::string_view bundle,
                          WallTime now);

}  // namespace plim::webhook
