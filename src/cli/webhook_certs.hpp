// Reads the certificate settings from the flags of the webhook's commands.
#pragma once

#include "cli/run.hpp"
#include "webhook/certs.hpp"

namespace plim::cli {

webhook::CertSettings cert_settings(const Context& context);

}  // namespace plim::cli
