// Credential plugins: programs that print an ExecCredential (client.authentication.k8s.io).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/config.hpp"

namespace plim::kube {

struct ExecCredential {
  std::string token;
  std::string certificate_pem, key_pem;  // both or none
  std::optional<WallTime> expires = {};  // none: used until the server refuses it
};

// Refuses what client-go refuses: no command, another API version, a mode it does not know.
Result<void> check_exec_plugin(const ExecPlugin& plugin);

// The value of KUBERNETES_EXEC_INFO.
std::string exec_info(const Config& config, bool interactive);

// Errors never quote the output: it holds secrets.
Result<ExecCredential> parse_exec_credential(std::string_view output, const ExecPlugin& plugin);

// Runs config.exec. It may prompt the user only if interactiveMode and our stdin allow it.
Task<Result<ExecCredential>> run_exec_plugin(Config config);

}  // namespace plim::kube
