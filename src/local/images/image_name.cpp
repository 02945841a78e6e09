// References to images: [registry/]repository[:tag][@digest].
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/images/image_catalog.hpp"
#include "local/images/images.hpp"

namespace plim::local::images {
namespace {

constexpr std::size_t kMaxName = 255;

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c);
}

// Letters and digits with single separators in between.
bool is_repository_part(std::string_view part) {
  if (part.empty() || !is_lower_alnum(part.front()) || !is_lower_alnum(part.back())) return false;
  return std::ranges::all_of(
      part, [](char c) { return is_lower_alnum(c) || c == '.' || c == '_' || c == '-'; });
}

bool is_tag(std::string_view tag) {
  if (tag.empty() || tag.size() > 128 || tag.front() == '.' || tag.front() == '-') return false;
  return std::ranges::all_of(tag, [](char c) {
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
  });
}

bool is_digest(std::string_view digest) {
  auto [algorithm, hex] = cut(digest, ':');
  if (algorithm != "sha256" || hex.size() != 64) return false;
  return std::ranges::all_of(hex, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_registry(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:") != part.npos;
}

bool is_host(std::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    return is_lower_alnum(c) || c == '.' || c == ':' || c == '-' || c == '[' || c == ']';
  });
}

}  // namespace

std::string normalise_image(std::string_view name) {
  auto [rest, digest] = cut(name, '@');
  if (name.find('@') != name.npos && !is_digest(digest)) return "";
  std::string registry = "docker.io";
  if (const std::size_t slash = rest.find('/');
      slash != rest.npos && is_registry(rest.substr(0, slash))) {
    registry = to_lower(rest.substr(0, slash));
    if (registry == "index.docker.io") registry = "docker.io";
    rest.remove_prefix(slash + 1);
  }
  auto [repository, tag] = cut(rest, ':');
  if (rest.find(':') != rest.npos && !is_tag(tag)) return "";
  if (!is_host(registry) || name.size() > kMaxName) return "";
  for (std::string_view part : split(repository, '/'))
    if (!is_repository_part(part)) return "";
  std::string out = registry + "/";
  if (registry == "docker.io" && repository.find('/') == repository.npos) out += "library/";
  out += repository;
  if (!digest.empty()) return fmt::format("{}@{}", out, digest);
  return fmt::format("{}:{}", out, tag.empty() ? "latest" : tag);
}

std::string_view image_repository(std::string_view normalised) {
  const std::size_t slash = normalised.rfind('/');
  const std::size_t from = slash == normalised.npos ? 0 : slash;
  const std::size_t end = normalised.find_first_of(":@", from);
  return normalised.substr(0, end);
}

}  // namespace plim::local::images
