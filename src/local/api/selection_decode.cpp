#include <simdjson.h>

#include "local/api/selection.hpp"

namespace plim::local {
namespace {

namespace ondemand = simdjson::ondemand;

// Stored bytes have no room behind them for the parser's wide loads, so they are copied where there
// is; that costs far less than the parsing.
struct Scratch {
  ondemand::parser parser;
  std::string text;

  ondemand::document open(std::string_view bytes) {
    text.reserve(bytes.size() + simdjson::SIMDJSON_PADDING);
    text = bytes;
    ondemand::document out;
    const auto broken = parser.iterate(text.data(), text.size(), text.capacity()).get(out);
    PLIM_ASSERT(!broken);  // the store holds what we encoded
    return out;
  }
};

Scratch& scratch() {
  thread_local Scratch out;
  return out;
}

bool enter(ondemand::object& here, std::string_view key) {
  ondemand::object inner;
  if (here.find_field_unordered(key).get_object().get(inner)) return false;
  here = inner;
  return true;
}

// Texts as they are, numbers and booleans as JSON writes them; the first of a list, as upstream
// does for podIPs.
std::string value_at(ondemand::document& document, const std::vector<std::string>& path,
                     const std::string& fallback) {
  document.rewind();
  ondemand::object here;
  if (document.get_object().get(here)) return fallback;
  for (std::size_t i = 0; i + 1 < path.size(); ++i)
    if (!enter(here, path[i])) return fallback;
  ondemand::value value;
  if (here.find_field_unordered(path.back()).get(value)) return fallback;
  std::string_view text;
  if (!value.get_string().get(text)) return std::string(text);
  bool flag = false;
  if (!value.get_bool().get(flag)) return flag ? "true" : "false";
  std::int64_t number = 0;
  if (!value.get_int64().get(number)) return std::to_string(number);
  return fallback;
}

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels labels_of(ondemand::document& document) {
  Labels out;
  document.rewind();
  ondemand::object here;
  if (document.get_object().get(here) || !enter(here, "metadata") || !enter(here, "labels"))
    return out;
  for (auto result : here) {
    ondemand::field field;
    std::string_view key, text;
    if (std::move(result).get(field) || field.unescaped_key().get(key) ||
        field.value().get_string().get(text))
      continue;
    out.emplace_back(key, text);
  }
  return out;
}

}  // namespace

std::string field_text(std::string_view bytes, const std::vector<std::string>& path) {
  ondemand::document document = scratch().open(bytes);
  return value_at(document, path, "");
}

bool Selection::matches(std::string_view bytes) const {
  if (is_everything()) return true;
  ondemand::document document = scratch().open(bytes);
  for (const FieldTest& test : fields_)
    if ((value_at(document, test.path, test.fallback) == test.value) != test.equals) return false;
  if (labels_.empty()) return true;
  const Labels labels = labels_of(document);
  for (const kube::LabelRequirement& one : labels_)
    if (!one.matches(kube::find_label(labels, one.key))) return false;
  return true;
}

}  // namespace plim::local
