// What the flags of `plimsoll webhook` ask for.
#pragma once

#include <optional>
#include <string>

#include "cli/pool_places.hpp"
#include "cli/run.hpp"
#include "kube/config.hpp"
#include "pools/mutate.hpp"
#include "servo/mutate.hpp"
#include "webhook/certificate_files.hpp"
#include "webhook/certs.hpp"

namespace plim::cli {

struct WebhookSettings {
  webhook::CertificateFiles certificate;
  std::optional<webhook::CertSettings> self_signed = {};  // instead of the files
  std::string ns = {}, service = {};                      // by which it is called
  std::optional<kube::Config> cluster = {};               // for certificates, ConfigMaps, events
  std::string listen;
  roles::PoolPlaces pools;
  pools::MutateOptions mutate;
  servo::JobRules jobs;
  servo::Monitor monitor;
  servo::MonitorForm monitor_form = servo::MonitorForm::sidecar;
};

Failure webhook_failure(Plm code, std::string what, std::string next = {});

Outcome<WebhookSettings> webhook_settings(const Context& context);

}  // namespace plim::cli
