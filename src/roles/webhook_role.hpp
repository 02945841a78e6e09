// The webhook as a daemon: an admission server with the mutators of pools and servo.
#pragma once

#include <optional>
#include <string>

#include "kube/config.hpp"
#include "pools/mutate.hpp"
#include "roles/errors.hpp"
#include "roles/webhook_pools.hpp"
#include "servo/mutate.hpp"
#include "webhook/certificate_files.hpp"
#include "webhook/certs.hpp"

namespace plim::roles {

struct WebhookSettings {
  webhook::CertificateFiles certificate;
  std::optional<webhook::CertSettings> self_signed = {};  // instead of the files
  std::string ns = {}, service = {};                      // the Service that API servers call
  std::optional<kube::Config> cluster = {};               // for certificates, ConfigMaps, events
  std::string listen;
  PoolPlaces pools;
  pools::MutateOptions mutate;
  servo::JobRules jobs;
  servo::Monitor monitor;
};

// Runs until SIGTERM or SIGINT.
Outcome<int> run_webhook(WebhookSettings settings);

}  // namespace plim::roles
