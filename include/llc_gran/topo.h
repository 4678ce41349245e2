/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LLC_GRAN_TOPO_H
#define _LLC_GRAN_TOPO_H

/*
 * Affinity sequences.
 *
 * For each preferred LLC there is one fixed order of all LLCs: the LLC itself,
 * the others of its node, then the other nodes nearest first, LLCs ascending
 * inside each. Stored whole, the orders of 1,024 LLCs would take megabytes, and
 * their inverse as much again. They decompose: the order of nodes depends on
 * the preferred LLC's node only, the order inside a node on that node only.
 *
 * LLCs are numbered densely from 0 in node order, nodes densely from 0; glue
 * maps the kernel's sparse ids. A table never changes once created: a new
 * topology is a new table.
 */
#include <llc_gran/shim.h>

#define LLCG_MAX_LLCS		1024
#define LLCG_MAX_NODES		256
/* Larger nodes always use the computed order inside the node. */
#define LLCG_MAX_RANKED		256

/**
 * struct llcg_topo_spec - what a topology is made from
 * @nr_nodes: nodes, 1 to LLCG_MAX_NODES
 * @llcs_per_node: LLCs of each node, at least 1; LLCG_MAX_LLCS in all
 * @node_distance: @nr_nodes rows of @nr_nodes; only the order in a row counts,
 *	and a node is nearest to itself whatever its row says
 * @llc_distance: for each node NULL, or rows of distances between its LLCs in
 *	which only the order counts; NULL for none at all
 */
struct llcg_topo_spec {
	u32 nr_nodes;
	const u32 *llcs_per_node;
	const u32 *node_distance;
	const u32 *const *llc_distance;
};

/**
 * struct llcg_topo_node - the LLCs of one node
 * @first: its first LLC
 * @nr: how many it has
 * @rank: @nr rows: position of each LLC in the row's order; NULL for computed
 * @at: inverse of @rank
 */
struct llcg_topo_node {
	u16 first;
	u16 nr;
	u8 *rank;
	u8 *at;
};

/**
 * struct llcg_topo - affinity sequences of all LLCs
 * @nr_llcs: LLCs in all
 * @nr_nodes: nodes in all
 * @even: LLCs a node where all nodes have as many, else 0
 * @nodes: array of @nr_nodes
 * @llc_node: array of @nr_llcs: the node of each LLC
 * @node_at: @nr_nodes rows: the nodes in the order of the row's node
 * @node_offset: @nr_nodes rows: position of each node's first LLC in sequences
 *	that start in the row's node; 0 for that node itself
 * @pos_node: only where nodes are uneven, @nr_nodes rows of @nr_llcs: the node
 *	at each position
 */
struct llcg_topo {
	u16 nr_llcs;
	u16 nr_nodes;
	u16 even;
	struct llcg_topo_node *nodes;
	u8 *llc_node;
	u8 *node_at;
	u16 *node_offset;
	u8 *pos_node;
};

int llcg_topo_create(const struct llcg_topo_spec *spec, struct llcg_topo **topo);
void llcg_topo_destroy(struct llcg_topo *t);
size_t llcg_topo_bytes(const struct llcg_topo *t);
u32 llcg_topo_rank(const struct llcg_topo *t, u32 pref, u32 llc);
u32 llcg_topo_at(const struct llcg_topo *t, u32 pref, u32 pos);

#endif /* _LLC_GRAN_TOPO_H */
