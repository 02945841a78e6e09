#include "loop/image_reference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::loop {
namespace {

constexpr std::string_view kDefaultRegistry = "docker.io";
constexpr std::size_t kLongestName = 255;  // registry and repository, as in the distribution spec
constexpr std::size_t kLongestTag = 128;
constexpr std::size_t kLongestDigest = 200;
constexpr std::size_t kSha256Digits = 64;

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c);
}

bool is_alphanumeric(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

bool is_registry(std::string_view component) {
  return component == "localhost" || component.find_first_of(".:") != component.npos;
}

bool is_registry_text(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || std::string_view(".-:[]_").find(c) != std::string_view::npos;
  });
}

bool is_repository(std::string_view repository) {
  return std::ranges::all_of(split(repository, '/'), [](std::string_view component) {
    return !component.empty() && is_lower_or_digit(component.front()) &&
           is_lower_or_digit(component.back()) && std::ranges::all_of(component, [](char c) {
             return is_lower_or_digit(c) || c == '.' || c == '_' || c == '-';
           });
  });
}

bool is_tag(std::string_view tag) {
  return !tag.empty() && tag.size() <= kLongestTag && tag.front() != '.' && tag.front() != '-' &&
         std::ranges::all_of(
             tag, [](char c) { return is_alphanumeric(c) || c == '_' || c == '.' || c == '-'; });
}

Error bad_reference(std::string_view text, std::string_view why) {
  return fail(Code::invalid, fmt::format("image {}: {}", quote(text), why));
}

}  // namespace

Result<ImageReference> ImageReference::parse(std::string_view text) {
  ImageReference out;
  std::string_view rest = text;
  if (const auto at = rest.find('@'); at != rest.npos) {
    out.digest = rest.substr(at + 1);
    if (!is_image_digest(out.digest)) return bad_reference(text, "expected a digest after '@'");
    rest = rest.substr(0, at);
  }
  const auto slash = rest.find('/');
  if (slash != rest.npos && is_registry(rest.substr(0, slash))) {
    out.registry = to_lower(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
  if (const auto colon = rest.rfind(':'); colon != rest.npos && colon + 1 > rest.rfind('/') + 1) {
    out.tag = rest.substr(colon + 1);
    if (!is_tag(out.tag)) return bad_reference(text, "bad tag");
    rest = rest.substr(0, colon);
  } else if (out.digest.empty()) {
    out.tag = "latest";
  }
  if (out.registry.empty() || out.registry == "index.docker.io") out.registry = kDefaultRegistry;
  out.repository = rest;
  if (out.registry == kDefaultRegistry && rest.find('/') == rest.npos)
    out.repository.insert(0, "library/");
  if (!is_registry_text(out.registry)) return bad_reference(text, "bad registry");
  if (!is_repository(out.repository))
    return bad_reference(text, "expected [registry/]name[:tag][@digest] in lower case");
  if (out.registry.size() + out.repository.size() >= kLongestName)
    return bad_reference(text, "the name is too long");
  return out;
}

std::string ImageReference::name() const {
  return fmt::format("{}/{}", registry, repository);
}

std::string ImageReference::tagged() const {
  return tag.empty() ? std::string() : fmt::format("{}/{}:{}", registry, repository, tag);
}

std::string ImageReference::pinned() const {
  return digest.empty() ? std::string() : fmt::format("{}/{}@{}", registry, repository, digest);
}

std::string ImageReference::to_string() const {
  std::string out = name();
  if (!tag.empty()) out += ":" + tag;
  if (!digest.empty()) out += "@" + digest;
  return out;
}

bool is_image_digest(std::string_view text) {
  const auto [algorithm, hex] = cut(text, ':');
  return !algorithm.empty() && hex.size() >= 32 && text.size() <= kLongestDigest &&
         is_lower_or_digit(algorithm.front()) && std::ranges::all_of(hex, is_hex_digit) &&
         std::ranges::all_of(algorithm, [](char c) {
           return is_lower_or_digit(c) || c == '+' || c == '.' || c == '_' || c == '-';
         });
}

std::string canonical_image_id(std::string_view id) {
  if (id.size() == kSha256Digits && std::ranges::all_of(id, is_hex_digit))
    return fmt::format("sha256:{}", id);
  return std::string(id);
}

}  // namespace plim::loop
