// What parses must parse again from its parts; errors never show a password.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/url.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim::net;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)without_credentials(text);
  auto url = parse_url(text);
  if (!url || url->scheme == Url::Scheme::unix_socket) return 0;
  if (url->port == 0 || url->host.empty() || url->path.ends_with('/')) std::abort();
  std::string scheme = url->scheme == Url::Scheme::https ? "https://" : "http://";
  if (url->host.find('%') != std::string::npos) return 0;  // the zone of an IPv6 address
  auto again = parse_url(scheme + url->host_and_port() + url->path);
  if (again && (again->port != url->port || again->path != url->path)) std::abort();
  return 0;
}
