#include "loop/application_id.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace plim::loop {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

AppIdLookup missed(AppIdMiss miss, std::string why) {
  return {.miss = miss, .why = std::move(why)};
}

AppIdLookup as_id(const json::value& value) {
  std::string id;
  if (value.is_string()) {
    id = value.get_string();
  } else if (value.is_number() || value.is_bool()) {
    id = to_json(value);
  } else {
    return missed(AppIdMiss::not_text, fmt::format("it is {}", value.is_object()  ? "a map"
                                                               : value.is_array() ? "a list"
                                                                                  : "null"));
  }
  if (id.empty()) return missed(AppIdMiss::empty, "the id is empty");
  if (id.size() > kLongestAppId)
    return missed(AppIdMiss::too_long,
                  fmt::format("the id has {} bytes, more than {}", id.size(), kLongestAppId));
  if (std::ranges::any_of(id, is_control))
    return missed(AppIdMiss::control, "the id contains control characters");
  return {.id = std::move(id)};
}

}  // namespace

std::string_view name_of(AppIdMiss miss) {
  switch (miss) {
    case AppIdMiss::none:
      return "none";
    case AppIdMiss::missing:
      return "missing";
    case AppIdMiss::value_from:
      return "valueFrom";
    case AppIdMiss::not_text:
      return "notText";
    case AppIdMiss::empty:
      return "empty";
    case AppIdMiss::too_long:
      return "tooLong";
    case AppIdMiss::control:
      return "control";
  }
  return "unknown";
}

class AppIdPath::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Elements>> parse() {
    std::vector<Elements> out;
    for (;;) {
      const std::size_t begin = at_;
      PLIM_TRY(Elements path, one_path());
      if (path.empty()) return mistake(begin, "the path is empty");
      out.push_back(std::move(path));
      if (at_ == text_.size()) return out;
      ++at_;  // the '|'
    }
  }

 private:
  bool at_end() const { return at_ == text_.size() || text_[at_] == '|'; }

  Result<Elements> one_path() {
    Elements out;
    while (!at_end()) {
      if (text_[at_] == '/') {
        ++at_;
        continue;
      }
      const std::size_t begin = at_;
      PLIM_TRY(Element element, one_element());
      if (!at_end() && text_[at_] != '/')
        return mistake(at_, "expected '/' or the end after this element");
      element.text = text_.substr(begin, at_ - begin);
      out.push_back(std::move(element));
    }
    return out;
  }

  Result<Element> one_element() {
    if (text_[at_] == '[') return search();
    if (text_[at_] == '"') return quoted();
    const std::size_t begin = at_;
    while (!at_end() && text_[at_] != '/') {
      if (text_[at_] == '[' || text_[at_] == '"')
        return mistake(at_, "a key with this character must be in double quotes");
      ++at_;
    }
    return Element{.text = {}, .key = std::string(text_.substr(begin, at_ - begin))};
  }

  Result<Element> search() {
    const std::size_t begin = at_;
    const std::size_t end = text_.find(']', at_);
    if (end == text_.npos) return mistake(begin, "this '[' is never closed");
    const auto parts = split(text_.substr(begin + 1, end - begin - 1), ',');
    at_ = end + 1;
    const bool complete = (parts.size() == 1 || parts.size() == 3) &&
                          std::ranges::none_of(parts, &std::string_view::empty);
    if (!complete) return mistake(begin, "expected [name] or [name,key,value]");
    Element out{
        .text = {}, .key = std::string(parts[0]), .name_member = "name", .value_member = "value"};
    if (parts.size() == 3) {
      out.name_member = parts[1];
      out.value_member = parts[2];
    }
    return out;
  }

  Result<Element> quoted() {
    const std::size_t begin = at_++;
    Element out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out.key += text_[at_++];
    }
    if (at_ == text_.size()) return mistake(begin, "this quote is never closed");
    ++at_;
    return out;
  }

  static Error mistake(std::size_t at, std::string_view what) {
    return fail(Code::invalid, fmt::format("column {}: {}", at + 1, what));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<AppIdPath> AppIdPath::parse(std::string_view text) {
  AppIdPath out;
  PLIM_TRY(out.paths_, Parser(text).parse());
  return out;
}

AppIdLookup AppIdPath::find(const json::value& pod) const {
  AppIdLookup out;
  for (const Elements& path : paths_) {
    AppIdLookup found = find_one(pod, path);
    if (found.found()) return found;
    // Of several misses, keep the most specific one.
    if (out.found() || out.miss == AppIdMiss::missing) out = std::move(found);
  }
  return out;
}

AppIdLookup AppIdPath::find_one(const json::value& pod, const Elements& path) {
  const json::value* at = &pod;
  AppIdLookup out;
  for (const Element& element : path) {
    at = element.is_search() ? search(*at, element, out) : step(*at, element, out);
    if (at != nullptr) continue;
    out.why = fmt::format("at {}: {}", element.text, out.why);
    return out;
  }
  return as_id(*at);
}

const json::value* AppIdPath::step(const json::value& at, const Element& element,
                                   AppIdLookup& out) {
  if (const json::object* map = at.if_object()) {
    if (const json::value* member = map->if_contains(element.key)) return member;
    out = missed(AppIdMiss::missing, "no such member");
    return nullptr;
  }
  const json::array* list = at.if_array();
  if (list == nullptr) {
    out = missed(AppIdMiss::missing, "the value is neither a map nor a list");
    return nullptr;
  }
  auto index = parse_int<std::int64_t>(element.key);
  const auto size = static_cast<std::int64_t>(list->size());
  if (index && *index < 0) *index += size;
  if (!index || *index < 0 || *index >= size) {
    out = missed(AppIdMiss::missing, fmt::format("not an index of a list of {}", size));
    return nullptr;
  }
  return &(*list)[static_cast<std::size_t>(*index)];
}

const json::value* AppIdPath::search(const json::value& at, const Element& element,
                                     AppIdLookup& out) {
  const json::array* list = at.if_array();
  if (list == nullptr) {
    out = missed(AppIdMiss::missing, "the value is not a list");
    return nullptr;
  }
  for (const json::value& item : *list) {
    const json::object* entry = item.if_object();
    if (entry == nullptr) {
      out = missed(AppIdMiss::missing, "the list contains elements that are not maps");
      return nullptr;
    }
    const json::value* name = entry->if_contains(element.name_member);
    if (name == nullptr || !name->is_string() || name->get_string() != element.key) continue;
    if (const json::value* value = entry->if_contains(element.value_member)) return value;
    out =
        entry->contains("valueFrom")
            ? missed(AppIdMiss::value_from,
                     "its value comes from "
                     "elsewhere (valueFrom)")
            : missed(AppIdMiss::missing, fmt::format("the entry has no {}", element.value_member));
    return nullptr;
  }
  out = missed(AppIdMiss::missing,
               fmt::format("no entry whose {} is {}", element.name_member, element.key));
  return nullptr;
}

}  // namespace plim::loop
