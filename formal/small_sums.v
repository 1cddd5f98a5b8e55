From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* Two and three indices, one by one. *)
Lemma each2 (P : 'I_2 -> Prop) : P 0 -> P 1 -> forall h, P h.
Proof.
move=> P0 P1 [[|[|//]] lt].
  by rewrite (_ : Ordinal lt = 0) //; apply: val_inj.
by rewrite (_ : Ordinal lt = 1) //; apply: val_inj.
Qed.

Lemma each3 (P : 'I_3 -> Prop) : P 0 -> P 1 -> P 2%:R -> forall h, P h.
Proof.
move=> P0 P1 P2 [[|[|[|//]]] lt].
- by rewrite (_ : Ordinal lt = 0) //; apply: val_inj.
- by rewrite (_ : Ordinal lt = 1) //; apply: val_inj.
- by rewrite (_ : Ordinal lt = 2%:R) //; apply: val_inj.
Qed.

Lemma sum2 (V : zmodType) (f : 'I_2 -> V) : \sum_h f h = f 0 + f 1.
Proof. by rewrite big_ord_recl big_ord1; congr (_ + f _); apply: val_inj. Qed.

Lemma sum3 (V : zmodType) (f : 'I_3 -> V) : \sum_h f h = f 0 + f 1 + f 2%:R.
Proof.
rewrite !big_ord_recl big_ord0 addr0 addrA.
by congr (_ + f _ + f _); apply: val_inj.
Qed.

Lemma sum_const (V : zmodType) (n : nat) (x : V) : \sum_(h < n) x = x *+ n.
Proof. by rewrite sumr_const card_ord. Qed.

(* The rationals as a field with a norm, whatever MathComp calls the structure. *)
Definition field_of (F : numFieldType) (_ : phant F) : numFieldType := F.
Definition rationals : numFieldType := field_of (Phant rat).
Definition real_field_of (F : realFieldType) (_ : phant F) : realFieldType := F.
Definition real_rationals : realFieldType := real_field_of (Phant rat).
