From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Form.
Variables (F : fieldType) (d : nat).
Implicit Types (G : 'M[F]_d) (u v : 'cV[F]_d).

Definition form G u v : F := (u^T *m G *m v) 0 0.

Lemma formDr G u v w : form G u (v + w) = form G u v + form G u w.
Proof. by rewrite /form mulmxDr mxE. Qed.

Lemma formDl G u v w : form G (u + v) w = form G u w + form G v w.
Proof. by rewrite /form [(_ + _)^T]raddfD /= !mulmxDl mxE. Qed.

Lemma formNr G u v : form G u (- v) = - form G u v.
Proof. by rewrite /form mulmxN mxE. Qed.

Lemma formNl G u v : form G (- u) v = - form G u v.
Proof. by rewrite /form [(- _)^T]raddfN /= !mulNmx mxE. Qed.

Lemma formZr G u v a : form G u (a *: v) = a * form G u v.
Proof. by rewrite /form -scalemxAr mxE. Qed.

Lemma formZl G u v a : form G (a *: u) v = a * form G u v.
Proof. by rewrite /form [(_ *: _)^T]linearZ /= -!scalemxAl mxE. Qed.

Lemma form_sumr G u n (v : 'I_n -> 'cV[F]_d) : form G u (\sum_j v j) = \sum_j form G u (v j).
Proof. by rewrite /form mulmx_sumr summxE. Qed.

Lemma form_sym G u v : G^T = G -> form G u v = form G v u.
Proof.
move=> sym; rewrite /form; have -> : (u^T *m G *m v) 0 0 = (u^T *m G *m v)^T 0 0.
  by rewrite [RHS]mxE.
by rewrite !trmx_mul trmxK sym mulmxA.
Qed.

Lemma form_moved G (T : 'M[F]_d) u v : form G (T *m u) (T *m v) = form (T^T *m G *m T) u v.
Proof. by rewrite /form trmx_mul !mulmxA. Qed.

Lemma form_square G u v : G^T = G ->
  form G (u - v) (u - v) = form G u u - 2%:R * form G u v + form G v v.
Proof.
move=> sym; rewrite formDl !formDr !formNl !formNr opprK (form_sym v u sym).
by rewrite mulr_natl mulr2n opprD !addrA.
Qed.
End Form.

Theorem energy :
  forall (F : fieldType) (n d : nat) (P : 'M[F]_n) (T : 'I_n -> 'I_n -> 'M[F]_d)
    (G : 'I_n -> 'M[F]_d) (pi : 'I_n -> F),
  (forall i, (G i)^T = G i) -> (forall i, \sum_j P i j = 1) ->
  (forall j, \sum_i pi i * P i j = pi j) ->
  (forall i j, P i j != 0 -> (T i j)^T *m G i *m T i j = G j) ->
  forall u : 'I_n -> 'cV[F]_d,
  let L i := u i - \sum_j P i j *: (T i j *m u j) in
  2%:R * (\sum_i pi i * (((u i)^T *m G i *m L i) 0 0))
  = \sum_i \sum_j pi i * P i j
      * (((u i - T i j *m u j)^T *m G i *m (u i - T i j *m u j)) 0 0).
Proof.
move=> F n d P T G pi sym P1 piP iso u L.
have step i j : pi i * P i j * form (G i) (u i - T i j *m u j) (u i - T i j *m u j)
    = pi i * P i j * form (G i) (u i) (u i)
      - 2%:R * (pi i * P i j * form (G i) (u i) (T i j *m u j))
      + pi i * P i j * form (G j) (u j) (u j).
  rewrite form_square // mulrDr mulrBr [in X in _ - X]mulrCA; congr (_ - _ + _).
  have [->|Pn0] := eqVneq (P i j) 0; first by rewrite !mulr0 !mul0r.
  by rewrite form_moved iso.
rewrite -[RHS]/(\sum_i \sum_j pi i * P i j * form (G i) (u i - T i j *m u j)
                                           (u i - T i j *m u j)).
under [RHS]eq_bigr => i _ do under eq_bigr => j _ do rewrite step.
under [RHS]eq_bigr => i _ do rewrite big_split /= sumrB.
rewrite big_split /= sumrB.
have first : \sum_i \sum_j pi i * P i j * form (G i) (u i) (u i)
    = \sum_i pi i * form (G i) (u i) (u i).
  by apply: eq_bigr => i _; rewrite -mulr_suml -mulr_sumr P1 mulr1.
have third : \sum_i \sum_j pi i * P i j * form (G j) (u j) (u j)
    = \sum_i pi i * form (G i) (u i) (u i).
  by rewrite exchange_big; apply: eq_bigr => j _; rewrite -mulr_suml piP.
rewrite first third; under eq_bigr => i _ do rewrite -[(_ *m _) 0 0]/(form (G i) (u i) (L i)).
have mixed i : pi i * form (G i) (u i) (L i)
    = pi i * form (G i) (u i) (u i) - \sum_j pi i * P i j * form (G i) (u i) (T i j *m u j).
  rewrite /L formDr formNr form_sumr mulrBr mulr_sumr; congr (_ - _).
  by apply: eq_bigr => j _; rewrite formZr mulrA.
under eq_bigr => i _ do rewrite mixed.
rewrite sumrB mulrBr mulr_natl mulr2n addrAC; congr (_ - _ + _).
by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mulr_sumr.
Qed.

Lemma energy_witness :
  ~ (forall (P : 'M[rat]_3) (T : 'I_3 -> 'I_3 -> 'M[rat]_2) (G : 'I_3 -> 'M[rat]_2)
       (pi : 'I_3 -> rat),
     (forall i, (G i)^T = G i) -> (forall i, \sum_j P i j = 1) ->
     (forall j, \sum_i pi i * P i j = pi j) ->
     (forall i j, P i j != 0 -> (T i j)^T *m G i *m T i j = G j) ->
     forall u : 'I_3 -> 'cV[rat]_2, False).
Proof.
move=> /(_ (const_mx 3%:R^-1) (fun _ _ => 1%:M) (fun=> 1%:M) (fun=> 1)) no.
apply: no (fun=> 0) => [i|i|j|i j _]; rewrite ?trmx1 ?mulmx1 //.
  by rewrite !big_ord_recr big_ord0 /= !mxE.
by rewrite !big_ord_recr big_ord0 /= !mxE.
Qed.
