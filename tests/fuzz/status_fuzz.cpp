// What foreign servers and programs may say: error answers, warning headers, watch lines,
// credentials.
#include <cstdint>
#include <cstdlib>

#include "kube/exec_plugin.hpp"
#include "kube/line_splitter.hpp"
#include "kube/status.hpp"
#include "kube/warnings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Error error = kube::error_from_answer(500, {{"Retry-After", std::string(text)}}, text);
  if (error.message.empty() || error.message.size() > 5000) std::abort();

  kube::parse_warning_header(text);

  kube::ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  (void)kube::parse_exec_credential(text, plugin);

  kube::LineSplitter lines(64);
  for (std::size_t at = 0; at < size; at += 7) {
    lines.add(text.substr(at, 7));
    for (;;) {
      auto line = lines.next();
      if (!line || !*line) break;
      if ((*line)->find('\n') != std::string::npos || (*line)->size() > 64) std::abort();
    }
  }
  return 0;
}
