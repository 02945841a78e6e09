#include "kube/fields_decode.hpp"

namespace plim::kube {
namespace {

class NodeReader : public JsonReader {
 public:
  using JsonReader::JsonReader;

  bool field(Node& out, std::string_view key, ondemand::value value) {
    if (key == "metadata") return meta(value, out.meta);
    if (key == "spec") return spec(value, out);
    if (key == "status") return status(value, out);
    return true;
  }

 private:
  bool spec(ondemand::value value, Node& out) {
    return object(value, [&](std::string_view key, ondemand::value v) {
      if (key == "providerID") return text(v, out.provider_id);
      if (key == "podCIDR") return text(v, out.pod_cidr);
      if (key == "unschedulable") return flag(v, out.unschedulable);
      if (key != "taints") return true;
      return objects(v, out.taints, [this](Taint& made, std::string_view k, ondemand::value inner) {
        if (k == "key") return text(inner, made.key);
        if (k == "value") return text(inner, made.value);
        if (k == "effect") return text(inner, made.effect);
        return true;
      });
    });
  }

  bool status(ondemand::value value, Node& out) {
    return object(value, [&](std::string_view key, ondemand::value v) {
      if (key == "capacity") return pairs(v, out.capacity);
      if (key == "allocatable") return pairs(v, out.allocatable);
      if (key == "images") return images(v, out.images);
      if (key == "nodeInfo") return info(v, out.info);
      if (key == "conditions")
        return objects(v, out.conditions, [this](Condition& made, std::string_view k, auto inner) {
          return condition(made, k, inner);
        });
      if (key == "addresses")
        return objects(v, out.addresses, [this](NodeAddress& made, std::string_view k, auto inner) {
          if (k == "type") return text(inner, made.type);
          if (k == "address") return text(inner, made.address);
          return true;
        });
      return true;
    });
  }

  bool images(ondemand::value value, std::vector<NodeImage>& out) {
    return objects(value, out, [this](NodeImage& made, std::string_view key, ondemand::value v) {
      if (key == "sizeBytes") return integer(v, made.bytes);
      if (key != "names") return true;
      return list(v, [&](ondemand::value name) { return text(name, made.names.emplace_back()); });
    });
  }

  bool info(ondemand::value value, NodeInfo& out) {
    return object(value, [&](std::string_view key, ondemand::value v) {
      if (key == "architecture") return text(v, out.architecture);
      if (key == "operatingSystem") return text(v, out.operating_system);
      if (key == "kernelVersion") return text(v, out.kernel);
      if (key == "osImage") return text(v, out.os_image);
      if (key == "containerRuntimeVersion") return text(v, out.container_runtime);
      if (key == "kubeletVersion") return text(v, out.kubelet);
      if (key == "machineID") return text(v, out.machine_id);
      if (key == "bootID") return text(v, out.boot_id);
      return true;
    });
  }
};

}  // namespace

Result<Node> decode_node(JsonText text, InternPool& pool) {
  NodeReader reader(&pool);
  Node out;
  auto on_field = [&](std::string_view key, ondemand::value value) {
    return reader.field(out, key, value);
  };
  PLIM_CHECK(reader.document(object_parser(), text, on_field));
  return out;
}

Result<ListMeta> decode_nodes(JsonText list, InternPool& pool, const Visit<Node>& visit) {
  NodeReader reader(&pool);
  return reader.list_document(list, [&](ondemand::value item) {
    Node out;
    auto on_field = [&](std::string_view key, ondemand::value value) {
      return reader.field(out, key, value);
    };
    return reader.object(item, on_field) && reader.hand_over(visit, std::move(out));
  });
}

Codec<Node> node_codec(InternPool& pool) {
  auto one = [&pool](JsonText text) { return decode_node(text, pool); };
  auto list = [&pool](JsonText text, const Visit<Node>& visit) {
    return decode_nodes(text, pool, visit);
  };
  return {one, list};
}

}  // namespace plim::kube
